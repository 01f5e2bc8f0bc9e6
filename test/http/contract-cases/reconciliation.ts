import { createId } from '../../../src/platform/lib/ids.ts'
import type { ContractCases } from './contract-case.ts'

const EXPLAIN = '/admin/reconciliation/differences'

/** The contract's gateway has no admins for them; what an admin gets is in reconciliation.test.ts. */
export async function createCases(): Promise<ContractCases> {
  return {
    'GET /fx-rates': [
      { isAnonymous: true },
      { path: '/fx-rates?from=2020-01-01&to=2020-12-31&limit=1' },
      { path: '/fx-rates?from=2020-02-30', status: 400 },
      { path: '/fx-rates?limit=401', status: 400 },
      { headers: { 'if-none-match': '*' }, status: 304 },
    ],
    'GET /admin/reconciliation': [{ status: 403 }, { isAnonymous: true, status: 401 }],
    [`POST ${EXPLAIN}/{id}/explain`]: [
      {
        path: `${EXPLAIN}/${createId()}/explain`,
        body: { explanation: 'porque sim' },
        status: 403,
      },
      {
        path: `${EXPLAIN}/${createId()}/explain`,
        body: { explanation: 'porque sim' },
        isAnonymous: true,
        status: 401,
      },
    ],
  }
}
