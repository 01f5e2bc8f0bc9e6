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
          O texto mudou em outro lugar enquanto você editava: agora é a versão {prompt.version}. Ao
          salvar, o seu vira a versão seguinte, e a outra fica em Versões.
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
            label={`O que muda na versão ${prompt.version + 1} (opcional)`}
            className="w-full md:w-96"
          >
            {(control) => (
              <Input
                {...control}
                autoComplete="off"
                maxLength={NOTE_LENGTH_MAX}
                placeholder="Tom mais cordial"
                value={note}
                onChange={(event) => setNote(event.target.value)}
              />
            )}
          </Field>
        ) : (
          <p className="text-sm text-muted">
            {changes ? 'O texto não mudou: a versão continua a mesma.' : 'Tudo salvo.'}
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
              Descartar
            </Button>
          )}
          <Button type="submit" isBusy={save.isPending} disabled={!changes}>
            {hasNewText ? `Salvar versão ${prompt.version + 1}` : 'Salvar'}
          </Button>
        </div>
      </div>
    </PromptForm>
  )
}
