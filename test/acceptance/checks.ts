const ID = /[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}/g

/** Counts what was checked, and keeps the failures. */
export class Checks {
  count = 0
  /** What was checked, once each: a rule of every answer is one guarantee, however many answers it was checked on. */
  readonly guarantees = new Set<string>()
  readonly failures: string[] = []

  is(title: string, holds: boolean, detail: unknown = '', guarantee = title): void {
    this.count++
    this.guarantees.add(guarantee.replaceAll(ID, '{id}'))
    if (!holds) this.failures.push(`${title}: ${describe(detail)}`)
  }

  equal(title: string, found: unknown, wanted: unknown): void {
    const [left, right] = [JSON.stringify(found), JSON.stringify(wanted)]
    this.is(title, left === right, `${left}, and not ${right}`)
  }

  /** One check for each field of the shape. Fields beside them are allowed. */
  shape(title: string, value: unknown, shape: Shape, guarantee = title): void {
    const fields = Object(value) as Record<string, unknown>
    for (const [name, kind] of Object.entries(shape)) {
      const found = fields[name]
      const kinds = kind.split(' or ')
      const holds = kinds.some((each) => (KINDS[each] ?? isLiteral(each))(found))
      const what = `${name} is ${kind}`
      this.is(`${title}: ${what}`, holds, found, `${guarantee}: ${what}`)
    }
  }
}

/** `string or null`, `integer`, `'paid'`. */
export type Shape = Readonly<Record<string, string>>

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  text: (value) => typeof value === 'string' && value.length > 0,
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  absent: (value) => value === undefined,
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  uuid: (value) => typeof value === 'string' && UUID.test(value),
  'date-time': (value) => typeof value === 'string' && DATE_TIME.test(value),
  strings: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
}

function isLiteral(kind: string): (value: unknown) => boolean {
  const text = /^'(.*)'$/.exec(kind)?.[1]
  if (text === undefined) throw new Error(`${kind} is no kind of value`)
  return (value) => value === text
}

function describe(detail: unknown): string {
  const text = typeof detail === 'string' ? detail : (JSON.stringify(detail) ?? 'undefined')
  return text.slice(0, 300)
}
