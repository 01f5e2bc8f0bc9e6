import { auditLogRoutes } from './audit-log-routes.ts'
import { auditLogExportRoutes } from './audit-log-export-routes.ts'

export const auditLog = [...auditLogRoutes, ...auditLogExportRoutes]
