/**
 * What the fuzz knows of its customers' things: addresses and secrets from the answers that they got. What is
 * sent says only "the third of mine", which becomes an address when it is sent.
 */

/** A place in what is sent that is filled when it is sent. */
export class Slot {
  readonly pool: string
  readonly whose: 'own' | 'other'
  readonly nth: number
  constructor(pool: string, whose: 'own' | 'other', nth: number) {
    this.pool = pool
    this.whose = whose
    this.nth = nth
  }
}

/** Of a thing in a list, by which its address goes on. */
const ID_FIELDS = ['id', 'session_id', 'customer_id']
const ENTRIES_MAX = 300
const NEWEST = 20

export class Pools {
  readonly #entries = new Map<string, Set<string>>()
  /** Ids that are never given: of the key that calls, and of what is to stay. */
  readonly #kept: ReadonlySet<string>
  constructor(kept: readonly string[] = []) {
    this.#kept = new Set(kept)
  }

  /** One of the newest: what is older may be gone. Undefined where nothing is known of it yet. */
  find(pool: string, nth: number): string | undefined {
    const entries = [...(this.#entries.get(pool) ?? [])].slice(-NEWEST)
    return entries[nth % entries.length]
  }

  /** What can be used only once. */
  take(pool: string): string | undefined {
    const entry = this.find(pool, 0)
    if (entry !== undefined) this.forget(pool, entry)
    return entry
  }

  add(pool: string, entry: string): void {
    const entries = this.#entries.get(pool) ?? new Set()
    this.#entries.set(pool, entries.add(entry))
    const [oldest] = entries
    if (entries.size > ENTRIES_MAX && oldest !== undefined) entries.delete(oldest)
  }

  forget(pool: string, entry: string): void {
    this.#entries.get(pool)?.delete(entry)
  }

  /** `template` is the operation's path, `path` is where it was called. */
  addFrom(template: string, path: string, body: unknown): void {
    for (const thing of thingsIn(body)) {
      const id = ID_FIELDS.map((field) => thing[field]).find((value) => typeof value === 'string')
      if (typeof id === 'string' && !this.#kept.has(id))
        this.add(template, `${path}/${encodeURIComponent(id)}`)
      // Operators reach it by an address of theirs.
      if (template === '/webhooks' && typeof id === 'string')
        this.add('/admin/webhooks', `/admin/webhooks/${encodeURIComponent(id)}`)
      // Listed with the report that they are of.
      if (template === '/admin/reconciliation' && typeof id === 'string')
        this.add(`${template}/differences`, `${template}/differences/${id}`)
      const { key, token, email, next_cursor, delivery_id } = thing
      // Listed under their webhook, and looked at under an address of their own.
      if (typeof delivery_id === 'string')
        this.add('/webhooks/attempts', `/webhooks/attempts/${delivery_id}`)
      if (typeof key === 'string') this.add('secret', key)
      if (typeof token === 'string')
        this.add(`invitation for ${String(email)}`, `${String(id)} ${token}`)
      if (typeof next_cursor === 'string') this.add(`cursor of ${template}`, next_cursor)
      if (typeof thing.url === 'string' && thing.url.includes('/files/images/'))
        this.add('/files/images', `/files/images/${thing.url.split('/').at(-1)}`)
    }
  }
}

/** The answer itself, and what it lists. */
function thingsIn(body: unknown): Readonly<Record<string, unknown>>[] {
  if (!isThing(body)) return []
  const lists = Object.values(body).filter((value) => Array.isArray(value))
  return [body, ...lists.flatMap((list) => list.slice(0, 20).filter(isThing))]
}

function isThing(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A customer who calls. */
export interface Actor {
  readonly email: string
  readonly secret: string
  readonly pools: Pools
  /** The path of a team that nobody deletes, so that there are members and keys to meet. */
  readonly team: string | undefined
}

/** What stands for a slot: of an address that is a value only its last part. */
export function fillSlot(slot: Slot, actor: Actor, others: readonly Actor[]): string | undefined {
  const { pool, whose, nth } = slot
  const from = whose === 'own' ? actor : (others[nth % others.length] ?? actor)
  if (pool === 'email') return from.email
  if (pool === 'own secret') return from.secret
  if (pool === 'token') return takeInvitation(actor, others)?.token
  const entry = from.pools.find(pool, nth)
  return entry && pool.startsWith('/')
    ? decodeURIComponent(entry.slice(entry.lastIndexOf('/') + 1))
    : entry
}

/** An invitation is answered once, by whom one of the others made it for. */
export function takeInvitation(
  { email }: Actor,
  others: readonly Actor[],
): { readonly id: string; readonly token: string } | undefined {
  for (const { pools } of others) {
    const [id, token] = pools.take(`invitation for ${email}`)?.split(' ') ?? []
    if (id !== undefined && token !== undefined) return { id, token }
  }
  return undefined
}
