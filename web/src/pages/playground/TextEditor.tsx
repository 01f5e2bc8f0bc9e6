import { useState, type SubmitEvent } from 'react'
import { Button } from '../../components/Button.tsx'
import { TextArea } from '../../components/TextArea.tsx'
import { useFirstFocus } from '../../lib/use-first-focus.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly label: string
  readonly text: string
  readonly submitLabel: string
  readonly onSubmit: (text: string) => void
  readonly onCancel: () => void
}

/** Edits a message in place. */
export function TextEditor({ label, text: textAtFirst, submitLabel, onSubmit, onCancel }: Props) {
  const [text, setText] = useState(textAtFirst)
  const field = useFirstFocus<HTMLTextAreaElement>()
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (text.trim() !== '') onSubmit(text.trim())
  }
  return (
    <form onSubmit={submit} className="grid w-full gap-3">
      <TextArea
        aria-label={label}
        ref={field}
        rows={3}
        className="max-h-96"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onCancel()
        }}
      />
      <div className="flex flex-wrap justify-end gap-2">
        <Button variant="secondary" onClick={onCancel}>
          {t('Cancelar')}
        </Button>
        <Button type="submit" disabled={text.trim() === ''}>
          {submitLabel}
        </Button>
      </div>
    </form>
  )
}
