/** Turns a plan and the ids it uses into the request that is sent. */
import { credentialHeaders } from '../../harness/ask.ts'
import { randomUUID } from 'node:crypto'
import type { Operation } from '../../harness/operations.ts'
import { fillSlot, Slot, takeInvitation, type Actor } from './pools.ts'
import {
  encode,
  type BodyPlan,
  type Caller,
  type Plan,
  type Spoil,
  type Target,
} from './request-plans.ts'
import { writeJson } from './texts.ts'

export interface RawRequest {
  readonly method: string
  /** Includes the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
  readonly requestId: string
  readonly madeAtMs: number
  /** Without the query. */
  readonly place: string
  /** The address may belong to no operation. */
  readonly isElsewhere: boolean
}

const BOUNDARY = 'fuzz'
/** The fields of forms that are files. */
const FILES = new Set(['file', 'image'])

export function createRequest(
  operation: Operation,
  plan: Plan,
  actor: Actor,
  others: readonly Actor[],
): RawRequest {
  const fill = (value: unknown): unknown =>
    value instanceof Slot ? (fillSlot(value, actor, others) ?? unknownOf(value)) : value
  const isForm = 'multipart/form-data' in (operation.described.requestBody?.content ?? {})
  const body = isForm ? formBytes(plan.body, fill) : bytesOf(plan.body, fill)
  const isUsual = plan.contentType === 'application/json'
  const contentType =
    isForm && isUsual ? `multipart/form-data; boundary=${BOUNDARY}` : plan.contentType
  const isOperators = operation.path.startsWith('/admin/')
  const requestId = randomUUID()
  const method = plan.method ?? operation.method
  const place = pathOf({ path: operation.path, method }, plan.target, actor, others)
  return {
    place,
    method,
    path: place + queryText(plan, fill),
    headers: {
      'x-svc-request-id': requestId,
      ...credentialsOf(plan.caller, actor, isOperators),
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    },
    body,
    requestId,
    madeAtMs: Date.now(),
    isElsewhere: plan.method !== undefined || plan.target.kind === 'odd',
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A page has no cursor if no earlier page was shown. */
function unknownOf({ pool }: Slot): string | undefined {
  return pool.startsWith('cursor') ? undefined : randomUUID()
}

export function asCurl({ method, path, headers, body }: RawRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => ` -H '${name}: ${value}'`)
  const text = body && ` --data-binary ${JSON.stringify(body.toString('latin1').slice(0, 2_000))}`
  return `curl -X ${method} '$BASE${path}'${lines.join('')}${text ?? ''}`
}

function credentialsOf(
  { kind, nth, text }: Caller,
  actor: Actor,
  isOperators: boolean,
): Record<string, string> {
  if (kind === 'none') return {}
  if (kind === 'odd') return text === undefined ? {} : { authorization: text }
  const learned = kind === 'learned_key' ? actor.pools.find('secret', nth) : undefined
  const own = isOperators ? (actor.operatorSecret ?? actor.secret) : actor.secret
  return credentialHeaders(learned ?? own)
}

/** The address of a resource ends at the last parameter; the rest of the path follows as described. */
function pathOf(
  { path, method }: Pick<Operation, 'path' | 'method'>,
  target: Target,
  actor: Actor,
  others: readonly Actor[],
): string {
  const end = path.lastIndexOf('}')
  if (end < 0) return path
  const pool = path.slice(0, path.lastIndexOf('/{'))
  const from = target.kind === 'other' ? (others[target.nth % others.length] ?? actor) : actor
  // A model that is written can be written again.
  const mayBeGone = method !== 'DELETE' || pool === '/admin/models'
  const isKept = mayBeGone && target.nth % 2 === 0
  const kept = isKept ? from.kept.get(pool) : undefined
  const known =
    kept === undefined
      ? (waitingFor(actor) ?? from.pools.find(pool, target.nth))
      : `${pool}/${encodeURIComponent(kept)}`
  const place = known ?? path.slice(0, end + 1).replaceAll(/\{\w+\}/g, () => randomUUID())
  if (target.kind !== 'odd') return place + path.slice(end + 1)
  return odd(path, place, target) + path.slice(end + 1)

  function waitingFor(invited: Actor): string | undefined {
    if (pool !== '/me/invitations' || target.kind !== 'own') return undefined
    const invitation = takeInvitation(invited, others)
    return invitation && `${pool}/${invitation.id}`
  }
}

/** One or all of several parameters are odd; the others belong to the resource. */
function odd(
  path: string,
  place: string,
  { texts, nth }: Extract<Target, { kind: 'odd' }>,
): string {
  const names = path.slice(0, path.lastIndexOf('}') + 1).split('/')
  let parameter = 0
  return place
    .split('/')
    .map((segment, at) => {
      if (!names[at]?.startsWith('{')) return segment
      const text = texts[parameter++]
      return text === undefined || (texts.length > 1 && nth % 3 === parameter) ? segment : text
    })
    .join('/')
}

function queryText({ query, oddQuery }: Plan, fill: (value: unknown) => unknown): string {
  const given = query.flatMap(([name, value]) => {
    const filled = fill(value)
    return filled === undefined ? [] : [`${name}=${encode(textOf(filled))}`]
  })
  const text = [...given, ...(oddQuery === '' ? [] : [oddQuery])].join('&')
  return text === '' ? '' : `?${text}`
}

function bytesOf(plan: BodyPlan, fill: (value: unknown) => unknown): Buffer | undefined {
  if (plan.kind === 'none') return undefined
  if (plan.kind === 'bytes') return plan.bytes
  const bytes = Buffer.from(writeJson(plan.value, fill))
  return plan.spoil ? spoiled(bytes, plan.spoil) : bytes
}

function spoiled(bytes: Buffer, { kind, at }: Spoil): Buffer {
  switch (kind) {
    case 'cut':
      return bytes.subarray(0, at % (bytes.length || 1))
    case 'tail':
      return Buffer.concat([bytes, Buffer.from(at % 2 ? '\u0000' : ',')])
    case 'bytes': {
      const broken = Buffer.from(bytes)
      if (broken.length > 0) broken[at % broken.length] = 0x80 + (at % 0x80)
      return broken
    }
    case 'twice': {
      // Duplicate names: the last one counts, as in JavaScript's JSON.
      const text = bytes.toString()
      const inside = text.slice(1, -1)
      return text.startsWith('{') && inside !== ''
        ? Buffer.from(`{${inside},${inside}}`)
        : Buffer.concat([bytes, bytes])
    }
  }
}

/** Form fields with the names of the JSON; the file consists of arbitrary bytes. */
function formBytes(plan: BodyPlan, fill: (value: unknown) => unknown): Buffer | undefined {
  if (plan.kind !== 'json') return bytesOf(plan, fill)
  const fields = typeof plan.value === 'object' && plan.value !== null ? plan.value : {}
  const parts = Object.entries(fields).map(([name, value]) => {
    const file = FILES.has(name) ? '; filename="a.mp3"' : ''
    const text = typeof value === 'string' ? value : writeJson(value, fill)
    const head = `content-disposition: form-data; name="${encode(name)}"${file}`
    return `--${BOUNDARY}\r\n${head}\r\n\r\n${text}\r\n`
  })
  const bytes = Buffer.from(`${parts.join('')}--${BOUNDARY}--\r\n`)
  return plan.spoil ? spoiled(bytes, plan.spoil) : bytes
}
