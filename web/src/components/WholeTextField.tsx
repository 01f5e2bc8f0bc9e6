import { useState } from 'react'
import { Field } from './Field.tsx'
import { Input } from './Input.tsx'

interface WholeTextFieldProps {
  readonly label: string
  readonly placeholder: string
  readonly maxLength: number
  /** What is asked for now; a page that changes it by itself gives it as the `key` too. */
  readonly value: string
  readonly onChange: (text: string) => void
  /** In words, what is wrong with a text; it is not asked for then. */
  readonly faultOf?: (text: string) => string | undefined
  readonly className?: string
}

/** Of a filter: asked for when it is written to the end, not at each letter. */
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
