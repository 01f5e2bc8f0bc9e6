import { join } from 'node:path'
import type { Release } from '../money/ledger/lease.ts'
import type { Config } from './config/config.ts'
import { findCommit } from './find-commit.ts'
import { PROGRAM_VERSION } from './program-version.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Returns the release that this process runs. An image names its build; a checkout has its commit. */
export function releaseOf({ build }: Pick<Config, 'build'>): Release {
  return { version: PROGRAM_VERSION, build: build ?? findCommit(ROOT) }
}
