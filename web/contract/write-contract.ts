/** `npm run web:contract`: writes web/src/api/contract.ts from the routes of this source tree. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { contractOf } from './contract-of.ts'
import { describeRoutes } from './describe-routes.ts'

const path = join(import.meta.dirname, '../src/api/contract.ts')
await writeFile(path, await contractOf(await describeRoutes()))
