import { listIncidents } from '../../platform/health/incidents.ts'
import type { HttpParts } from '../rest/parts.ts'

/** The time for which an incident is shown after its end. */
export const RESOLVED_DAYS = 30
const NEWEST_READ = 20

/** Finds what a customer has to know of the service now, and what was wrong in the last weeks. */
export async function findServiceNews({ db, catalog }: Pick<HttpParts, 'db' | 'catalog'>) {
  const [open, newest] = await Promise.all([
    listIncidents(db, { onlyOpen: true }),
    listIncidents(db, { onlyOpen: false, limit: NEWEST_READ }),
  ])
  const since = Date.now() - RESOLVED_DAYS * 86_400_000
  return {
    open,
    resolved: newest.flatMap((incident) => {
      const { resolvedAt } = incident
      return resolvedAt !== null && resolvedAt.getTime() > since
        ? [{ ...incident, resolvedAt }]
        : []
    }),
    /** Ids of the models that the operator took out of service. */
    outOfService: catalog
      .listConfigured()
      .filter(({ id, routes }) => routes.length > 0 && !catalog.findModel(id)?.routes.length)
      .map(({ id }) => id),
    isPaused: catalog.isPaused(),
  }
}
