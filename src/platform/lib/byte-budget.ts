/**
 * The bytes of request bodies and answers in memory, until the end of the answer: limited for each subject (a customer,
 * or the address of a caller whose customer is unknown) and for all together.
 */
export interface ByteBudget {
  take(subject: string, bytes: number): 'taken' | ByteExcess
  /** Whether so many bytes would fit now. */
  findExcess(subject: string, bytes: number): ByteExcess | undefined
  /** Counts bytes that are in memory already, also beyond the limits. */
  add(subject: string, bytes: number): void
  release(subject: string, bytes: number): void
  readonly bytes: number
}

/** The limit that is reached: that of the subject, or that of the node. */
export type ByteExcess = 'own' | 'all'

export interface ByteBudgetLimits {
  readonly ownBytesMax: number
  readonly bytesMax: number
}

export function createByteBudget({ ownBytesMax, bytesMax }: ByteBudgetLimits): ByteBudget {
  const own = new Map<string, number>()
  let all = 0

  function findExcess(subject: string, bytes: number): ByteExcess | undefined {
    if ((own.get(subject) ?? 0) + bytes > ownBytesMax) return 'own'
    return all + bytes > bytesMax ? 'all' : undefined
  }

  function add(subject: string, bytes: number): void {
    own.set(subject, (own.get(subject) ?? 0) + bytes)
    all += bytes
  }

  return {
    findExcess,
    take(subject, bytes) {
      const excess = findExcess(subject, bytes)
      if (excess !== undefined) return excess
      add(subject, bytes)
      return 'taken'
    },
    add,
    release(subject, bytes) {
      const left = (own.get(subject) ?? 0) - bytes
      if (left > 0) own.set(subject, left)
      else own.delete(subject)
      all -= bytes
    },
    get bytes() {
      return all
    },
  }
}
