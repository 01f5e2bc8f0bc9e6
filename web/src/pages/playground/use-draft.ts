import { useState } from 'react'
import { findPlaceholders, promptParts } from '../../lib/placeholders.ts'

export interface LoadedPrompt {
  readonly id: string
  readonly name: string
  readonly body: string
}

/** What is being written; of a saved prompt with a field for each of its variables. */
export interface Draft {
  readonly text: string
  readonly write: (text: string) => void
  readonly prompt: LoadedPrompt | undefined
  readonly variables: readonly string[]
  readonly values: Readonly<Record<string, string>>
  readonly fill: (name: string, value: string) => void
  /** Variables without a value, once somebody wanted to send it so. */
  readonly missing: readonly string[]
  /** The text to be sent, with the values in their places, and an empty draft after it; undefined: not yet. */
  readonly take: () => string | undefined
}

export function useDraft(prompt: LoadedPrompt | undefined, onTaken: () => void): Draft {
  const [text, write] = useState('')
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [isAsked, setAsked] = useState(false)
  const [loadedId, setLoadedId] = useState<string>()
  if (prompt?.id !== loadedId) {
    setLoadedId(prompt?.id)
    setValues({})
    setAsked(false)
    if (prompt) write(prompt.body)
  }
  const variables = prompt ? findPlaceholders(text) : []
  const missing = variables.filter((name) => (values[name] ?? '') === '')
  return {
    text,
    write,
    prompt,
    variables,
    values,
    fill: (name, value) => setValues({ ...values, [name]: value }),
    missing: isAsked ? missing : [],
    take() {
      setAsked(true)
      if (missing.length > 0) return undefined
      const filled = prompt ? filledIn(text, values) : text
      if (filled.trim() === '') return undefined
      write('')
      setValues({})
      setAsked(false)
      onTaken()
      return filled.trim()
    },
  }
}

/** Braces in a value are text. */
function filledIn(text: string, values: Readonly<Record<string, string>>): string {
  return promptParts(text)
    .map(({ kind, text: part, name }) => (kind === 'variable' ? (values[name] ?? part) : part))
    .join('')
}
