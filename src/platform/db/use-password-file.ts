import { readFile } from 'node:fs/promises'
import type pg from 'pg'
import type { DatabaseAddress } from './database-address.ts'

/** The client reads its password from the file of the address, if it has one, at the moment of connecting. */
export function usePasswordFile(client: pg.Client, { passwordFile }: DatabaseAddress): void {
  if (passwordFile === undefined) return
  const password = async (): Promise<string> => (await readFile(passwordFile, 'utf8')).trim()
  // A function in the configuration is overwritten by the address, which has no password.
  Object.assign(client, { password })
}
