import { useState } from 'react'
import { Button } from '../../components/Button.tsx'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { Notice } from '../../components/Notice.tsx'
import { faultOf, type DraftFault } from './prompt-draft.ts'
import { PromptForm } from './PromptForm.tsx'
import type { Prompt } from './prompt-queries.ts'
import { explainPromptError, NOTE_LENGTH_MAX } from './prompt-words.ts'
import { useSavePrompt, type useDraft } from './use-draft.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Props {
  readonly prompt: Prompt
  readonly work: ReturnType<typeof useDraft>
}

export function EditPrompt({ prompt, work }: Props) {
  const { draft, changes, isOvertaken, edit, discard, forgetSaved } = work
  const [note, setNote] = useState('')
  const [fault, setFault] = useState<DraftFault>()
  const save = useSavePrompt(prompt, (saved, sent) => {
    forgetSaved(sent, saved.version)
    setNote('')
  })
  const hasNewText = changes?.body !== undefined
  const submit = (): void => {
    const found = faultOf(draft)
    setFault(found)
    if (found || !changes || save.isPending) return
    const change_note = note.trim()
    save.mutate({
      draft,
      changes: hasNewText && change_note !== '' ? { ...changes, change_note } : changes,
    })
  }
  return (
    <PromptForm draft={draft} onEdit={edit} onSubmit={submit} fault={fault}>
      {isOvertaken && (
        <Notice tone="warning" role="status">
          <Trans
            id="O texto mudou em outro lugar enquanto você editava: agora é a versão {version}. Ao salvar, o seu vira a versão seguinte, e a outra fica em Versões."
            values={{ version: prompt.version }}
          />
        </Notice>
      )}
      {save.error && (
        <Notice tone="danger" role="alert">
          {explainPromptError(save.error)}
        </Notice>
      )}
      <div className="flex flex-wrap items-end justify-between gap-3 border-t border-line pt-4">
        {hasNewText ? (
          <Field
            label={t('O que muda na versão {version} (opcional)', { version: prompt.version + 1 })}
            className="w-full md:w-96"
          >
            {(control) => (
              <Input
                {...control}
                autoComplete="off"
                maxLength={NOTE_LENGTH_MAX}
                placeholder={t('Tom mais cordial')}
                value={note}
                onChange={(event) => setNote(event.target.value)}
              />
            )}
          </Field>
        ) : (
          <p className="text-sm text-muted">
            {changes ? t('O texto não mudou: a versão continua a mesma.') : t('Tudo salvo.')}
          </p>
        )}
        <div className="flex gap-3 max-sm:w-full max-sm:*:flex-1">
          {changes && (
            <Button
              variant="secondary"
              onClick={() => {
                discard()
                setNote('')
                setFault(undefined)
                save.reset()
              }}
            >
              {t('Descartar')}
            </Button>
          )}
          <Button type="submit" isBusy={save.isPending} disabled={!changes}>
            {hasNewText
              ? t('Salvar versão {version}', { version: prompt.version + 1 })
              : t('Salvar')}
          </Button>
        </div>
      </div>
    </PromptForm>
  )
}
