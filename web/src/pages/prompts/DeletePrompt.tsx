import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { counted } from '../../format/number.ts'
import type { Prompt } from './prompt-queries.ts'
import { explainPromptError } from './prompt-words.ts'
import { useDeletePrompt } from './use-prompt-acts.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Props {
  /** Undefined: the dialog is closed. */
  readonly prompt: Prompt | undefined
  readonly onClose: () => void
  readonly onDeleted: () => void
}

export function DeletePrompt({ prompt, onClose, onDeleted }: Props) {
  const remove = useDeletePrompt(onDeleted)
  const close = (): void => {
    remove.reset()
    onClose()
  }
  return (
    <ConfirmDialog
      isOpen={prompt !== undefined}
      onClose={close}
      onConfirm={() => {
        if (prompt) remove.mutate(prompt)
      }}
      title={t('Excluir “{name}”?', { name: prompt?.name ?? '' })}
      confirmText={t('Excluir prompt')}
      isBusy={remove.isPending}
      error={remove.error ? explainPromptError(remove.error) : undefined}
    >
      <p className="text-sm text-muted">
        <Trans
          id="O texto e {counted} são apagados, e não dá para voltar atrás. O que já foi cobrado continua no seu uso."
          values={{ counted: counted(prompt?.version ?? 1, t('versão'), t('versões')) }}
        />
      </p>
    </ConfirmDialog>
  )
}
