import { useState } from 'react'
import { findPlaceholders, promptParts } from '../../lib/placeholders.ts'

export interface LoadedPrompt {
  readonly id: string
  readonly name: string
  readonly body: string
}

/** The message being written; for a saved prompt, with a field for each variable. */
export interface Draft {
  readonly text: string
  readonly write: (text: string) => void
  readonly prompt: LoadedPrompt | undefined
  readonly variables: readonly string[]
  readonly values: Readonly<Record<string, string>>
  readonly fill: (name: string, value: string) => void
  /** Variables without a value, after an attempt to send. */
  readonly missing: readonly string[]
  /** Returns the text with the variables filled in and resets the draft; undefined while values are missing. */
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

/** Braces inside a value are plain text. */
function filledIn(text: string, values: Readonly<Record<string, string>>): string {
  return promptParts(text)
    .map(({ kind, text: part, name }) => (kind === 'variable' ? (values[name] ?? part) : part))
    .join('')
}
