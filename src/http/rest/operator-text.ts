/** Text by an operator: one line that is not blank. The database cannot store NUL. */
import Type from 'typebox'

const LINE = '^[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$'

export function operatorLine(minLength: number, maxLength: number, description?: string) {
  return Type.String({
    minLength,
    maxLength,
    pattern: LINE,
    ...(description === undefined ? {} : { description }),
  })
}

export const reason = operatorLine(3, 500, 'Por quê.')
