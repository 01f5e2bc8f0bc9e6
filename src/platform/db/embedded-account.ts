import { readFileSync } from 'node:fs'

/** The account that runs the database: PostgreSQL refuses root, so root starts it under another account. */
export interface Account {
  readonly ids: { readonly uid?: number; readonly gid?: number }
}

export function runAs(): Account {
  if (process.getuid?.() !== 0) return { ids: {} }
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ['postgres', 'nobody']) {
    const fields = lines.find((line) => line.startsWith(`${name}:`))?.split(':')
    if (fields) return { ids: { uid: Number(fields[2]), gid: Number(fields[3]) } }
  }
  return { ids: { uid: 65_534, gid: 65_534 } }
}
