import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { counted } from '../../format/number.ts'
import type { Prompt } from './prompt-queries.ts'
import { explainPromptError } from './prompt-words.ts'
import { useDeletePrompt } from './use-prompt-acts.ts'

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
      title={`Excluir “${prompt?.name ?? ''}”?`}
      confirmText="Excluir prompt"
      isBusy={remove.isPending}
      error={remove.error ? explainPromptError(remove.error) : undefined}
    >
      <p className="text-sm text-muted">
        O texto e {counted(prompt?.version ?? 1, 'versão', 'versões')} são apagados, e não dá para
        voltar atrás. O que já foi cobrado continua no seu uso.
      </p>
    </ConfirmDialog>
  )
}
