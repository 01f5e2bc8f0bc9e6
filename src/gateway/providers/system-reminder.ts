const OPEN = '<system-reminder>'

/**
 * Returns the text of an instruction in the middle of a conversation, for a turn of the user: where an upstream takes
 * no instructions there. Moved to the front, it would change the prompt before all that the upstream has cached.
 */
export function asReminder(text: string): string {
  // As agents mark them themselves.
  return text.startsWith(OPEN) ? text : `${OPEN}\n${text}\n</system-reminder>`
}
