/**
 * Leaves the customer out of a query while it is sent: what `npm run mutants` does to a file, for each query of a request
 * within milliseconds.
 */
import pg from 'pg'

export interface QueryMutant {
  readonly text: string
  readonly becomes: string
}

const CUSTOMER = /(?:"?\w+"?\.)?"?customer_id"? = (?:(\$\d+)|(?:"?\w+"?\.)?"?customer_id"?)/g

/** One for each condition on the customer. The parameter stays, or the query would have one too many. */
function mutantsOf(text: string): QueryMutant[] {
  return [...text.matchAll(CUSTOMER)].map(({ 0: all, 1: parameter, index }) => ({
    text,
    becomes:
      text.slice(0, index) +
      (parameter === undefined ? 'true' : `(${parameter}::uuid is not null)`) +
      text.slice(index + all.length),
  }))
}

/** Of this process, until it is ended. */
export function createQueryMutations() {
  const query = Reflect.get(pg.Client.prototype, 'query') as (...args: unknown[]) => unknown
  let seen = new Set<string>()
  let mutant: QueryMutant | undefined
  let isSent = false
  pg.Client.prototype.query = function (this: pg.Client, config: unknown, ...more: unknown[]) {
    const text = typeof config === 'string' ? config : (config as pg.QueryConfig).text
    seen.add(text)
    if (text !== mutant?.text) return query.call(this, config, ...more)
    isSent = true
    const { becomes } = mutant
    const changed = typeof config === 'string' ? becomes : { ...(config as object), text: becomes }
    return query.call(this, changed, ...more)
  } as typeof pg.Client.prototype.query

  return {
    /** The mutants of what the work sends. */
    findMutants: async (work: () => Promise<unknown>): Promise<QueryMutant[]> => {
      seen = new Set()
      await work()
      return [...seen].flatMap(mutantsOf)
    },
    /** The result of the work with the mutant in its place; undefined if the query was not sent again. */
    withMutant: async <T>(wanted: QueryMutant, work: () => Promise<T>): Promise<T | undefined> => {
      mutant = wanted
      isSent = false
      const result = await work()
      mutant = undefined
      return isSent ? result : undefined
    },
    end: (): void => {
      Reflect.set(pg.Client.prototype, 'query', query)
    },
  }
}
