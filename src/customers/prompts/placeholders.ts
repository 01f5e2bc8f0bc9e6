/**
 * A placeholder is `{{name}}`; spaces inside the braces do not matter. Any other use of braces, including a name of more
 * than 40 characters, is text and stays unchanged.
 */
const PLACEHOLDER = /\{\{ *([a-zA-Z0-9_]{1,40}) *\}\}/g

export const VARIABLES_MAX = 100

/** Why a prompt's variables are invalid. */
export type VariablesFault =
  | { readonly kind: 'undeclared_variable'; readonly name: string }
  | { readonly kind: 'too_many_variables' }

export type Rendered =
  | { readonly kind: 'rendered'; readonly text: string }
  | { readonly kind: 'missing_value'; readonly name: string }
  | { readonly kind: 'too_long' }

/** Returns the distinct names in a body, in the order of their first occurrence. */
export function findPlaceholders(body: string): string[] {
  return [...new Set(Array.from(body.matchAll(PLACEHOLDER), ([, name]) => name as string))]
}

/**
 * Returns the variables of a prompt: the declared ones, which must include all placeholders of its body, or, if it
 * declares none, the placeholders of its body.
 */
export function variablesOf(
  body: string,
  declared: readonly string[] | undefined,
): readonly string[] | VariablesFault {
  const used = findPlaceholders(body)
  if (declared === undefined)
    return used.length > VARIABLES_MAX ? { kind: 'too_many_variables' } : used
  const known = new Set(declared)
  const undeclared = used.find((name) => !known.has(name))
  return undeclared === undefined ? [...known] : { kind: 'undeclared_variable', name: undeclared }
}

/**
 * Replaces the placeholders in one pass, so braces in a value are text. Every variable needs a value; other values
 * are not used. A value may occur thousands of times, so the size of the result is computed before the result.
 */
export function renderPrompt(
  { body, variables }: { readonly body: string; readonly variables: readonly string[] },
  values: ReadonlyMap<string, string>,
  bytesMax: number,
): Rendered {
  const missing = variables.find((name) => !values.has(name))
  if (missing !== undefined) return { kind: 'missing_value', name: missing }
  if (renderedBytes(body, values) > bytesMax) return { kind: 'too_long' }
  const text = body.replace(PLACEHOLDER, (found, name: string) => values.get(name) ?? found)
  return { kind: 'rendered', text }
}

function renderedBytes(body: string, values: ReadonlyMap<string, string>): number {
  const sizes = new Map([...values].map(([name, value]) => [name, Buffer.byteLength(value)]))
  let bytes = Buffer.byteLength(body)
  for (const [found, name] of body.matchAll(PLACEHOLDER))
    bytes += (sizes.get(name as string) ?? found.length) - found.length
  return bytes
}
