/**
 * fast-check with the seed of the run. The ordinary run generates the same cases each time, so that a commit that passes
 * goes on passing; `TEST_EFFORT=full` and `TEST_SEED` generate others.
 */
import fc from 'fast-check'
import { seedOr } from './effort.ts'

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: seedOr(20_261_123) })

export default fc
