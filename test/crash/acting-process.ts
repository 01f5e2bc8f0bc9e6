/** Does one act whole, from its JSON in the arguments, and ends; or is killed on its way (`kill-at-step.ts`). */
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
