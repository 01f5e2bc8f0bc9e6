import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { changesOf, draftOf } from './prompt-draft.ts'
import type { Prompt, Version } from './prompt-queries.ts'
import { explainPromptError } from './prompt-words.ts'
import { useSavePrompt } from './use-draft.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Props {
  readonly prompt: Prompt
  /** Undefined: the dialog is closed. */
  readonly version: Version | undefined
  readonly isUnsaved: boolean
  readonly onClose: () => void
  readonly onRestored: () => void
}

export function RestoreVersion({ prompt, version, isUnsaved, onClose, onRestored }: Props) {
  const save = useSavePrompt(prompt, onRestored)
  const confirm = (): void => {
    if (!version) return
    // Variables that the text does not use stay declared, as with any other change of it.
    const draft = { ...draftOf(prompt), body: version.body }
    const changes = changesOf(draft, prompt) ?? {}
    save.mutate({
      draft,
      changes: {
        ...changes,
        change_note: t('volta à versão {version}', { version: version.version }),
      },
    })
  }
  return (
    <ConfirmDialog
      isOpen={version !== undefined}
      onClose={() => {
        save.reset()
        onClose()
      }}
      onConfirm={confirm}
      title={t('Restaurar a versão {version}?', { version: version?.version ?? '' })}
      confirmText={t('Restaurar')}
      variant="primary"
      isBusy={save.isPending}
      error={save.error ? explainPromptError(save.error) : undefined}
    >
      <p className="text-sm text-muted">
        <Trans
          id="O texto dela vira a versão {version}. As outras continuam aqui."
          values={{ version: prompt.version + 1 }}
        />
        {isUnsaved && t(' O que você mudou no editor e não salvou se perde.')}
      </p>
    </ConfirmDialog>
  )
}
