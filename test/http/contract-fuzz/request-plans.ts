/** Plans of requests: everything except the ids, which are known only later. */
import fc from '../../harness/fast-check.ts'
import type { Operation, Schema } from '../../harness/operations.ts'
import { BODIES, hintsFor } from './hints.ts'
import { Slot } from './pools.ts'
import { valueOf, type Hints } from './schema-values.ts'
import { oddText, oddValue } from './texts.ts'

export interface Plan {
  readonly caller: Caller
  /** Replaces the operation's method, if given. */
  readonly method?: string | undefined
  readonly target: Target
  readonly query: readonly (readonly [name: string, value: unknown])[]
  /** Appended to the query unchanged. */
  readonly oddQuery: string
  readonly body: BodyPlan
  readonly contentType: string | undefined
}

export interface Caller {
  readonly kind: 'key' | 'none' | 'odd' | 'learned_key'
  readonly nth: number
  readonly text: string
}

/** One entry for each parameter of the path. */
export type Target =
  | { readonly kind: 'own' | 'other'; readonly nth: number }
  | { readonly kind: 'odd'; readonly texts: readonly string[]; readonly nth: number }

export type BodyPlan =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown; readonly spoil: Spoil | undefined }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }

/** A change to the text of valid JSON. */
export interface Spoil {
  readonly kind: 'cut' | 'twice' | 'bytes' | 'tail'
  readonly at: number
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const ODD_SEGMENTS = [
  '%00',
  '%zz',
  '%',
  '%C0%80',
  '%ff',
  '..',
  '%2e%2e%2f',
  'a%2Fb',
  'a/b',
  '{id}',
  'null',
  '-1',
  '0',
  '%20',
  '%F0%9F%98%80',
  "'%20or%201=1--",
  '1e400',
  'x'.repeat(80),
  'x'.repeat(81),
  'x'.repeat(200),
  'x'.repeat(201),
  '00000000-0000-0000-0000-000000000000',
  'urn:uuid:00000000-0000-0000-0000-000000000000',
  '00000000000000000000000000000000',
]
const ODD_QUERIES = [
  'zz=1',
  '__proto__=1',
  'constructor[prototype]=1',
  '%00=%00',
  'a=%zz&b=%',
  'q',
  '&&==&',
  'limit=1&limit=2',
  'days=7&days=8',
  'days[]=7',
  'days%5B%5D=7',
  'limit[a]=1',
  'days=',
  'days=1e1',
  'days=%2B5',
  'days=05',
  'days=-0',
  'days=99999999999999999999',
  'days=%EF%BC%99',
  'minutes=60.0',
  'from=2026-02-30',
  'from=2026-01-01T00:00:00Z&to=0000-00-00',
  'from=9999-12-31&to=0001-01-01',
  'cursor=%00',
  'cursor=bm9wZQ',
  'cursor=MjAyNi0xMS0yMVQwMDowMDowMC4wMDAwMDBaL3g',
  'q=%00',
  'q=%25%5F%5C',
  'tag=%ED%A0%80',
  `x=${'y'.repeat(6_000)}`,
]
const ODD_TYPES = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'x']
const ODD_BODIES = [
  '',
  ' ',
  '\u0000',
  '{',
  '[',
  '"',
  'nul',
  '{"a":}',
  '\ufeff{}',
  '{}{}',
  'a=1&b=2',
]
const ODD_CREDENTIALS = [
  'Bearer',
  'Bearer ',
  'Bearer sk-svc-',
  `Bearer sk-svc-${'a'.repeat(48)}`,
  `Bearer ${'k'.repeat(5_000)}`,
  'Basic YTpi',
  'sk-svc-x',
]

const nth = fc.nat({ max: 10_000 })

/** The oddities of a request: none in half of the requests, otherwise mostly one. */
const ODDITIES: readonly { readonly weight: number; readonly parts: readonly Part[] }[] = [
  { weight: 22, parts: [] },
  { weight: 3, parts: ['target'] },
  { weight: 3, parts: ['query'] },
  { weight: 7, parts: ['body'] },
  { weight: 3, parts: ['caller'] },
  { weight: 1, parts: ['method'] },
  { weight: 1, parts: ['type'] },
  { weight: 2, parts: ['target', 'query', 'body'] },
]
type Part = 'caller' | 'method' | 'target' | 'query' | 'body' | 'type'

/** `described` are the methods of the path, which a wrong method must not be. */
export function plansFor(operation: Operation, described: readonly string[]): fc.Arbitrary<Plan> {
  const hints = hintsFor(operation)
  const isWithBody = operation.described.requestBody !== undefined
  const hasPath = operation.path.includes('{')
  const method = fc.constantFrom(...METHODS.filter((one) => !described.includes(one)))
  const query = queryOf(operation, hints)
  const [body, otherBody] = [soundBody(operation, hints), oddBody(operation, hints)]
  const [target, otherTarget] = [ownTarget, oddTarget(operation.path)]
  const contentType = fc.constant(isWithBody ? 'application/json' : undefined)
  return fc.oneof(
    ...ODDITIES.map(({ weight, parts }) => ({
      weight,
      arbitrary: fc.record({
        caller: parts.includes('caller') ? oddCaller : soundCaller,
        method: parts.includes('method') ? method : fc.constant(undefined),
        target: parts.includes('target') && hasPath ? otherTarget : target,
        query,
        oddQuery: parts.includes('query') ? fc.constantFrom(...ODD_QUERIES) : fc.constant(''),
        body: parts.includes('body') ? otherBody : body,
        contentType: parts.includes('type')
          ? fc.constantFrom(...ODD_TYPES, undefined)
          : contentType,
      }),
    })),
  )
}

const soundCaller: fc.Arbitrary<Caller> = nth.map((at) => ({ kind: 'key', nth: at, text: '' }))
const ownTarget: fc.Arbitrary<Target> = nth.map((at) => ({ kind: 'own', nth: at }))

const oddCaller: fc.Arbitrary<Caller> = fc.oneof(
  fc.record({ kind: fc.constant('none' as const), nth, text: fc.constant('') }),
  fc.record({ kind: fc.constant('learned_key' as const), nth, text: fc.constant('') }),
  fc.record({
    kind: fc.constant('odd' as const),
    nth,
    text: fc.constantFrom(...ODD_CREDENTIALS),
  }),
)

function oddTarget(path: string): fc.Arbitrary<Target> {
  const count = path.split('{').length - 1
  const text = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...ODD_SEGMENTS) },
    { weight: 1, arbitrary: fc.uuid() },
    { weight: 1, arbitrary: fc.uuid().map((id) => id.toUpperCase()) },
    { weight: 1, arbitrary: oddText.map((text) => encode(text.slice(0, 60)) || 'x') },
  )
  return fc.oneof(
    nth.map((at): Target => ({ kind: 'other', nth: at })),
    fc.record({
      kind: fc.constant('odd' as const),
      texts: fc.array(text, { minLength: count, maxLength: count }),
      nth,
    }),
  )
}

/** A third of the queries have the required parameters alone. */
function queryOf(operation: Operation, hints: Hints): fc.Arbitrary<[string, unknown][]> {
  const fields = (operation.described.parameters ?? []).filter(({ in: place }) => place === 'query')
  const values = fc.record(
    Object.fromEntries(fields.map(({ name, schema }) => [name, valueOf(schema, name, hints)])),
    { requiredKeys: fields.filter(({ required }) => required).map(({ name }) => name) },
  )
  const least = fields.filter(({ required }) => required)
  return fc
    .tuple(values, fc.nat({ max: 2 }))
    .map(([given, at]) =>
      Object.entries(given).filter(([name]) => at > 0 || least.some((one) => one.name === name)),
    )
}

function bodySchema({ described }: Operation): Schema | undefined {
  return Object.values(described.requestBody?.content ?? {})[0]?.schema
}

function soundBody(operation: Operation, hints: Hints): fc.Arbitrary<BodyPlan> {
  const schema = bodySchema(operation)
  if (!schema) return fc.constant({ kind: 'none' })
  return soundValue(operation, schema, hints).map(jsonPlan)
}

/** A third of the values have the required fields alone, because each further one may be refused beside the others. */
function soundValue({ name }: Operation, schema: Schema, hints: Hints): fc.Arbitrary<unknown> {
  const { properties = {}, required = [] } = schema
  const least = Object.entries(properties).filter(([field]) => required.includes(field))
  const values = [schema, schema, { ...schema, properties: Object.fromEntries(least) }].map(
    (each) => valueOf(each, '', hints),
  )
  return fc.oneof(...values, ...(name in BODIES ? values.map(() => fc.constant(BODIES[name])) : []))
}

function oddBody(operation: Operation, hints: Hints): fc.Arbitrary<BodyPlan> {
  const schema = bodySchema(operation)
  const sound = schema ? soundValue(operation, schema, hints) : fc.constant({})
  const spoil = fc.record({
    kind: fc.constantFrom<Spoil['kind']>('cut', 'twice', 'bytes', 'tail'),
    at: nth,
  })
  return fc.oneof(
    // An unexpected body costs the client its connection.
    { weight: schema ? 0 : 60, arbitrary: fc.constant<BodyPlan>({ kind: 'none' }) },
    {
      weight: 5,
      arbitrary: fc
        .tuple(sound, nth, oddValue)
        .map(([value, at, other]) => jsonPlan(withOther(value, at, other))),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(sound, fc.constantFrom('zz', '__proto__', 'id', 'customer_id', ''), oddValue)
        .map(([value, name, more]) => jsonPlan(withMore(value, name, more))),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(sound, nth).map(([value, at]) => jsonPlan(withoutOne(value, at))),
    },
    { weight: 1, arbitrary: oddValue.map((value) => jsonPlan(value)) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(sound, spoil)
        .map(([value, spoil]): BodyPlan => ({ kind: 'json', value, spoil })),
    },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_BODIES).map(bytesPlan) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('[', '{"a":').map((unit) => bytesPlan(unit.repeat(20_000))),
    },
  )
}

function jsonPlan(value: unknown): BodyPlan {
  return { kind: 'json', value, spoil: undefined }
}

function bytesPlan(text: string): BodyPlan {
  return { kind: 'bytes', bytes: Buffer.from(text) }
}

/** One of its fields, at any depth, is replaced. */
function withOther(value: unknown, at: number, other: unknown): unknown {
  if (!isRecord(value)) return other
  const names = Object.keys(value)
  const name = names[at % names.length]
  if (name === undefined) return { zz: other }
  const inside = value[name]
  const goesOn = Math.floor(at / 7) % 2 === 0
  const replaced = goesOn && isRecord(inside) ? withOther(inside, Math.floor(at / 3), other) : other
  return { ...value, [name]: Array.isArray(inside) && goesOn ? [...inside, other] : replaced }
}

function withMore(value: unknown, name: string, more: unknown): unknown {
  if (!isRecord(value)) return value
  // An own property: an assignment to `__proto__` creates none.
  return Object.fromEntries([...Object.entries(value), [name, more]])
}

function withoutOne(value: unknown, at: number): unknown {
  if (!isRecord(value)) return value
  const entries = Object.entries(value)
  return Object.fromEntries(entries.filter((_, place) => place !== at % entries.length))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  const isObject = typeof value === 'object' && value !== null
  return isObject && !Array.isArray(value) && !(value instanceof Slot)
}

/** Half of a surrogate pair cannot be part of an address. */
export function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
