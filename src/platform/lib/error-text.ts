/** Class 22 of PostgreSQL, data exceptions: the message quotes the value. */
const DATA_EXCEPTION = /^22[0-9A-Z]{3}$/

/**
 * Returns the message of an error as far as a log may have it: `JSON.parse` and the database quote the text that they
 * cannot read, which may be a prompt or a document of a person.
 */
export function errorText(error: Error): string {
  const { message, name, code } = error as Error & { code?: unknown }
  if (error instanceof SyntaxError) return `${name}, whose message quotes the text`
  if (typeof code === 'string' && DATA_EXCEPTION.test(code))
    return message.replace(/\s*[:"].*$/s, '')
  return message
}

/** Returns the stack without the message in its first lines. */
export function errorFrames(error: Error): string | undefined {
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line))
  return frames && [`${error.name}: ${errorText(error)}`, ...frames].join('\n')
}
