import { useState } from 'react'
import { Field } from './Field.tsx'
import { Input } from './Input.tsx'

interface WholeTextFieldProps {
  readonly label: string
  readonly placeholder: string
  readonly maxLength: number
  /** The current filter; a page that changes it itself must also pass it as the `key`. */
  readonly value: string
  readonly onChange: (text: string) => void
  /** Explains why a text is invalid; an invalid text is not applied. */
  readonly faultOf?: (text: string) => string | undefined
  readonly className?: string
}

/** A filter field that applies its text when the user finishes it, not at each letter. */
export function WholeTextField(props: WholeTextFieldProps) {
  const { label, placeholder, maxLength, value, onChange, faultOf, className } = props
  const [text, setText] = useState(value)
  const [fault, setFault] = useState<string>()
  const done = (): void => {
    const written = text.trim()
    const found = faultOf?.(written)
    setFault(found)
    if (found === undefined && written !== value) onChange(written)
  }
  return (
    <Field label={label} error={fault} {...(className === undefined ? {} : { className })}>
      {(control) => (
        <Input
          {...control}
          value={text}
          maxLength={maxLength}
          placeholder={placeholder}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
          onBlur={done}
          onKeyDown={(event) => {
            if (event.key === 'Enter') done()
          }}
        />
      )}
    </Field>
  )
}
