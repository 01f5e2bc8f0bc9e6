import type { Model } from '../../money/catalog/model.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Router } from '../../gateway/calls/routing/create-router.ts'
import {
  expireBreakerIncidents,
  reportBreakerClosed,
  reportBreakerOpen,
} from '../../platform/health/breaker-incidents.ts'

/**
 * Opens an incident for every model without a working route on this node, and closes it when one works again. Reports
 * are leases, so the incidents of a dead node end by themselves.
 */
export function createReportIncidents(deps: {
  db: Database
  router: Router
  nodeId: () => string
}): () => Promise<void> {
  const { db, router, nodeId } = deps
  const reported = new Set<string>()
  return async () => {
    const failing = failingModels(router)
    for (const { id, vendor } of failing) {
      await reportBreakerOpen(db, {
        nodeId: nodeId(),
        subject: id,
        modelIds: [id],
        vendors: [vendor],
      })
      reported.add(id)
    }
    for (const id of reported) {
      if (failing.some((model) => model.id === id)) continue
      await reportBreakerClosed(db, { subject: id })
      reported.delete(id)
    }
    await expireBreakerIncidents(db)
  }
}

/** Models of which every route is open, or waits for its probe. */
function failingModels(router: Router): Model[] {
  const open = new Map<Model, boolean>()
  for (const { model, breaker } of router.listStates())
    open.set(model, (open.get(model) ?? true) && breaker !== 'closed')
  return [...open].filter(([, isOpen]) => isOpen).map(([model]) => model)
}
