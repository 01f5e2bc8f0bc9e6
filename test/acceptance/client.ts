/** HTTP by `fetch` alone: what a customer's own program could do. */

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Undefined if the body is no JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
  /** The same with every number as its digits. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly exact: any
}

export interface Asking {
  readonly key?: string | undefined
  readonly method?: string
  readonly body?: unknown
  readonly form?: FormData
  readonly headers?: Readonly<Record<string, string>>
}

/** Asks one server. `ip` is the client's address, as its proxy names it. */
export type Ask = (path: string, asking?: Asking) => Promise<Answer>

export function createClient(base: string, defaults: Asking, ip: string): Ask {
  return async (path, asking = {}) => {
    const { key, method, body, form, headers } = { ...defaults, ...asking }
    const init: RequestInit = {
      method: method ?? (body === undefined && form === undefined ? 'GET' : 'POST'),
      headers: {
        'x-forwarded-for': ip,
        ...(key === undefined || key === '' ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    }
    if (body !== undefined) init.body = typeof body === 'string' ? body : JSON.stringify(body)
    if (form) init.body = form
    const response = await fetch(base + path, init)
    const bytes = Buffer.from(await response.arrayBuffer())
    const text = bytes.toString('utf8')
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: parse(text, false),
      exact: parse(text, true),
    }
  }
}

export function parse(text: string, isExact: boolean): unknown {
  const digits = (_key: string, value: unknown, context?: { source?: string }): unknown =>
    isExact && typeof value === 'number' ? context?.source : value
  try {
    return JSON.parse(text, digits)
  } catch {
    return undefined
  }
}
