import { RestRefusal } from './rest-refusal.ts'

/**
 * Who may call which route. Each route declares its `access`; this table alone decides which callers have it. The matrix
 * in test/acceptance/specification.md is generated from both (`npm run docs:access`), and `test/http/access.test.ts` asks every
 * route with every caller.
 */
/** The roles in ascending order of rights: each may do what the ones before it may. */
export const OPERATOR_ROLES = ['support', 'finance', 'admin'] as const
export type OperatorRole = (typeof OPERATOR_ROLES)[number]

/**
 * An API key by its scope (`limited`: one with `manage` and any limit; `operator`: as far as the role of its owner goes),
 * or a login session: of a customer, or of an operator who showed a second factor in it.
 */
export const CALLERS = [
  'calls',
  'account',
  'limited',
  'manage',
  'operator',
  'session',
  ...OPERATOR_ROLES,
] as const
export type CallerKind = (typeof CALLERS)[number]

const SESSIONS = ['session', ...OPERATOR_ROLES] as const

/** The callers of each access. `nobody`: the handler demands something other than a key or a login session. */
const CALLERS_OF = {
  /** Everybody, without a key. */
  public: CALLERS,
  calls: ['calls', 'account', 'limited', 'manage', ...SESSIONS],
  account: ['account', 'limited', 'manage', ...SESSIONS],
  /** Acts that stay within the limits of the key: they compare themselves, have limits of their own, or stop something. */
  within: ['limited', 'manage', ...SESSIONS],
  /** What outlives a key, or reaches beyond its limits: settings of the account, destinations, webhooks, teams, cards. */
  manage: ['manage', ...SESSIONS],
  /** The pages that guard an account; the handler reads the cookie itself. */
  session: SESSIONS,
  /** Operators: customers, incidents, failing deliveries. */
  support: ['operator', 'support', 'finance', 'admin'],
  /** Operators: money, and suspending accounts. */
  finance: ['operator', 'finance', 'admin'],
  /** Operators: prices, the catalog, the audit log. */
  admin: ['operator', 'admin'],
  /** A message of another machine, signed or with a token. */
  signed: [],
  /** The operator's own machines, by token. */
  machine: [],
} as const satisfies Readonly<Record<string, readonly CallerKind[]>>

export type Access = keyof typeof CALLERS_OF

export function isAccess(value: unknown): value is Access {
  return typeof value === 'string' && Object.hasOwn(CALLERS_OF, value)
}

export function hasAccess(caller: CallerKind, access: Access, method: string): boolean {
  const callers: readonly CallerKind[] = CALLERS_OF[access]
  return callers.includes(caller) && (caller !== 'operator' || isRead(method))
}

export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Returns the scope that a key needs, as customers know it. */
export function scopeOf<Each extends Access>(access: Each): Exclude<Each, 'within'> | 'manage' {
  return access === 'within' ? 'manage' : (access as Exclude<Each, 'within'>)
}

export function isOperatorAccess(access: Access): access is OperatorRole {
  return OPERATOR_ROLES.some((role) => role === access)
}

export function ownAccount(): RestRefusal {
  return new RestRefusal(
    403,
    'own_account',
    'ninguém opera a própria conta, nem a de uma equipe de que participa',
  )
}
