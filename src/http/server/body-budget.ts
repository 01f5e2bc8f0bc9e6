/**
 * The bytes of request bodies in memory, from their arrival to the end of the answer: limited for each subject (a
 * customer, or the address of a caller whose customer is unknown) and for all together.
 */
export interface BodyBudget {
  take(subject: string, bytes: number): 'taken' | BodyExcess
  /** Whether so many bytes would fit now. */
  findExcess(subject: string, bytes: number): BodyExcess | undefined
  release(subject: string, bytes: number): void
  readonly bytes: number
}

/** The limit that is reached: that of the subject, or that of the node. */
export type BodyExcess = 'own' | 'all'

export interface BodyBudgetLimits {
  readonly ownBytesMax: number
  readonly bytesMax: number
}

export function createBodyBudget({ ownBytesMax, bytesMax }: BodyBudgetLimits): BodyBudget {
  const own = new Map<string, number>()
  let all = 0

  function findExcess(subject: string, bytes: number): BodyExcess | undefined {
    if ((own.get(subject) ?? 0) + bytes > ownBytesMax) return 'own'
    return all + bytes > bytesMax ? 'all' : undefined
  }

  return {
    findExcess,
    take(subject, bytes) {
      const excess = findExcess(subject, bytes)
      if (excess !== undefined) return excess
      own.set(subject, (own.get(subject) ?? 0) + bytes)
      all += bytes
      return 'taken'
    },
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
