/**
 * The fuzz's record of each customer's resources: addresses and secrets from earlier answers. A plan contains only
 * slots such as "the third of my keys", which become addresses when the request is sent.
 */

/** A slot of a plan, which is filled when the request is sent. */
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

/** The field of a listed resource that continues its address. */
const ID_FIELDS = ['id', 'session_id', 'customer_id']
/** Resources of customers that operators change, too. */
const OPERATED: ReadonlySet<string> = new Set(['/webhooks', '/api-keys'])
const ENTRIES_MAX = 300
const NEWEST = 20

export class Pools {
  readonly #entries = new Map<string, Set<string>>()
  /** Ids that are never used: the calling key's, and those of resources that must stay. */
  readonly #kept: ReadonlySet<string>
  constructor(kept: readonly string[] = []) {
    this.#kept = new Set(kept)
  }

  /** One of the newest, because older ones may be deleted. Undefined if none is known yet. */
  find(pool: string, nth: number): string | undefined {
    const entries = [...(this.#entries.get(pool) ?? [])].slice(-NEWEST)
    return entries[nth % entries.length]
  }

  /** Resources that can be used only once. */
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

  /** `template` is the operation's path, `path` is the called one. */
  addFrom(template: string, path: string, body: unknown): void {
    for (const thing of thingsIn(body)) {
      const id = ID_FIELDS.map((field) => thing[field]).find((value) => typeof value === 'string')
      if (typeof id === 'string' && !this.#kept.has(id))
        this.add(template, `${path}/${encodeURIComponent(id)}`)
      // Operators reach it at another address.
      if (OPERATED.has(template) && typeof id === 'string' && !this.#kept.has(id))
        this.add(`/admin${template}`, `/admin${template}/${encodeURIComponent(id)}`)
      // Listed with the report that contains them.
      if (template === '/admin/reconciliation' && typeof id === 'string')
        this.add(`${template}/differences`, `${template}/differences/${id}`)
      if (typeof thing.request_id === 'string' && typeof id === 'string')
        this.add('usage event id', id)
      if (typeof thing.session_id === 'string') this.add('session id', thing.session_id)
      const { key, token, email, next_cursor, delivery_id } = thing
      // Listed under their webhook, but retrieved under a separate address.
      if (typeof delivery_id === 'string')
        this.add('/webhooks/attempts', `/webhooks/attempts/${delivery_id}`)
      if (typeof key === 'string') this.add('secret', key)
      if (typeof token === 'string')
        this.add(`invitation for ${String(email)}`, `${String(id)} ${token}`)
      if (typeof next_cursor === 'string') this.add(`cursor of ${template}`, next_cursor)
      if (typeof thing.url === 'string' && thing.url.includes('/conta/'))
        this.add('/public-bills', `/public-bills/${thing.url.split('/').at(-1)}`)
      if (typeof thing.url === 'string' && thing.url.includes('/files/images/'))
        this.add('/files/images', `/files/images/${thing.url.split('/').at(-1)}`)
    }
  }
}

/** The answer itself, and the resources that it lists. */
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
  /** A login session of an operator. */
  readonly operatorSecret?: string | undefined
  readonly pools: Pools
  /**
   * By pool, the id of a resource that no request deletes: so a request for one succeeds in every order in which the
   * clients are served, and a team keeps its members and keys.
   */
  readonly kept: ReadonlyMap<string, string>
}

/** The value of a slot; if a value is an address, only its last part. */
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

/** An invitation is answered once, by the customer for whom another one created it. */
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
