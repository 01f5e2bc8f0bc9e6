/** The customer whose data this tab holds: part of every query key, so that no data of another one is found. */
import { hashKey, type QueryKey } from '@tanstack/react-query'

let owner: string | undefined

/** Undefined: nobody has been signed in here since the page was loaded or the last sign-out. */
export function cacheOwner(): string | undefined {
  return owner
}

export function setCacheOwner(customerId: string | undefined): void {
  owner = customerId
}

export function hashForOwner(key: QueryKey): string {
  return hashKey([owner ?? null, ...key])
}

/** For data that is the same for everybody: it stays when somebody signs in. */
export const ofEverybody = { queryKeyHashFn: hashKey } as const
