/** What operators write: one line that is not only spaces. The database takes no NUL. */
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
