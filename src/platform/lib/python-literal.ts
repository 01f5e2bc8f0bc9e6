/** Writes a value in Python, which has strings and numbers as JSON does, but other words for true, false and null. */
export function pythonLiteral(value: unknown, indent = ''): string {
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null || value === undefined) return 'None'
  const inner = `${indent}    `
  if (Array.isArray(value)) {
    const items = value.map((item) => `${inner}${pythonLiteral(item, inner)},`)
    return items.length === 0 ? '[]' : `[\n${items.join('\n')}\n${indent}]`
  }
  if (typeof value === 'object') {
    const items = Object.entries(value).map(
      ([name, item]) => `${inner}${JSON.stringify(name)}: ${pythonLiteral(item, inner)},`,
    )
    return items.length === 0 ? '{}' : `{\n${items.join('\n')}\n${indent}}`
  }
  return JSON.stringify(value)
}
