/** Performs one act, given as JSON in the arguments, and exits; `kill-at-step.ts` may kill it on the way. */
import type { Access } from './world.ts'
import { PERFORM } from './perform.ts'

const { name, access, prepared } = JSON.parse(process.argv[2] ?? '') as {
  name: string
  access: Access
  prepared: never
}
const perform = PERFORM[name]
if (!perform) throw new Error(`there is no act "${name}"`)
await perform(access, prepared)
process.exit(0)
