import { useMemo, type ReactNode } from 'react'
import { promptParts, type PromptPart } from '../../lib/placeholders.ts'

interface Props {
  readonly body: string
  /** Replace the variables that have a value. */
  readonly values?: Readonly<Record<string, string>>
}

/** A prompt's text with its variables highlighted. */
export function PromptText({ body, values }: Props) {
  const parts = useMemo(() => promptParts(body), [body])
  return (
    <p className="font-mono text-sm break-words whitespace-pre-wrap">
      {parts.map((part, place) => (
        <span key={place}>{shown(part, values)}</span>
      ))}
    </p>
  )
}

function shown({ kind, text, name }: PromptPart, values: Props['values']): ReactNode {
  const value = values?.[name]
  if (kind === 'text') return text
  if (kind === 'not_a_variable')
    return (
      <mark className="rounded bg-warning-soft px-0.5 text-warning underline decoration-wavy underline-offset-4">
        {text}
      </mark>
    )
  return (
    <mark className="rounded bg-accent-soft px-1 py-0.5 font-medium text-accent">
      {value === undefined || value === '' ? text : value}
    </mark>
  )
}
