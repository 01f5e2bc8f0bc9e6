import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { Field } from '../../../components/Field.tsx'
import { TextArea } from '../../../components/TextArea.tsx'
import { useAct } from '../use-act.ts'
import { amountsOf, DIFFERENCE_WORDS } from './difference-words.ts'
import type { Difference } from './reconciliation-queries.ts'
import { t } from '../../../language/t.ts'

interface Props {
  readonly difference: Difference
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function ExplainDialog({ difference, isOpen, onClose }: Props) {
  const [text, setText] = useState(difference.explanation ?? '')
  const [fault, setFault] = useState<string>()
  const amounts = amountsOf(difference)
  const { id, kind } = difference
  const explain = useAct({
    act: (explanation: string) =>
      api.post('/admin/reconciliation/differences/{id}/explain', { explanation }, { path: { id } }),
    doneText: () => t('Diferença explicada.'),
    onDone: onClose,
  })
  const confirm = (): void => {
    const explanation = text.trim()
    setFault(
      explanation.length < 3 ? t('Escreva o que aconteceu, com ao menos 3 letras.') : undefined,
    )
    if (explanation.length >= 3) explain.mutate(explanation)
  }
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={confirm}
      title={t('Explicar: {text}', { text: DIFFERENCE_WORDS()[kind].text })}
      confirmText={t('Explicar diferença')}
      variant="primary"
      isBusy={explain.isPending}
      error={explain.error ? explainError(explain.error) : undefined}
    >
      <p className="text-sm text-muted">
        {amounts &&
          t('Diferença de {between}: nosso {ours}, deles {theirs}. ', {
            between: amounts.between,
            ours: amounts.ours,
            theirs: amounts.theirs,
          })}
        {t(
          'Nenhum saldo muda. A explicação vale para estes valores: se mudarem, a diferença abre de novo.',
        )}
      </p>
      <Field label={t('Explicação')} error={fault}>
        {(control) => (
          <TextArea
            {...control}
            className="min-h-28"
            maxLength={500}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
    </ConfirmDialog>
  )
}
