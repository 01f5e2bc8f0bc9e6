import { useState, type SubmitEvent } from 'react'
import { Button } from '../../components/Button.tsx'
import { Field } from '../../components/Field.tsx'
import { TextArea } from '../../components/TextArea.tsx'
import type { ToolCall } from './conversation.ts'
import type { ToolResult } from './playground-store.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Props {
  readonly calls: readonly ToolCall[]
  readonly isDisabled: boolean
  readonly onSubmit: (results: readonly ToolResult[]) => void
}

/** No tool is executed here: the user types the result of each call. */
export function ToolResults({ calls, isDisabled, onSubmit }: Props) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({})
  const [isAsked, setAsked] = useState(false)
  const results = calls.map((call) => ({ call, text: (texts[call.id] ?? '').trim() }))
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    setAsked(true)
    if (results.every(({ text }) => text !== '')) onSubmit(results)
  }
  return (
    <form
      onSubmit={submit}
      noValidate
      className="grid gap-4 rounded-lg border border-accent bg-surface p-4"
    >
      {calls.map(({ id, name }) => (
        <Field
          key={id}
          label={
            <>
              <Trans id="O que {code} devolveu" values={{ code: <code>{name}</code> }} />
            </>
          }
          error={isAsked && (texts[id] ?? '').trim() === '' && t('Escreva um resultado.')}
        >
          {(control) => (
            <TextArea
              {...control}
              rows={2}
              spellCheck={false}
              placeholder={t('{"resultado": "…"}')}
              className="max-h-60 font-mono"
              value={texts[id] ?? ''}
              onChange={(event) => setTexts({ ...texts, [id]: event.target.value })}
            />
          )}
        </Field>
      ))}
      <Button type="submit" className="justify-self-start" disabled={isDisabled}>
        {calls.length === 1 ? t('Enviar resultado') : t('Enviar resultados')}
      </Button>
    </form>
  )
}
