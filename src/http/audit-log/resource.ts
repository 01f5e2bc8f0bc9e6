import { operatorAuditLogRoutes } from './operator-audit-log-routes.ts'
import { operatorAuditLogExportRoutes } from './operator-audit-log-export-routes.ts'

export const auditLog = [...operatorAuditLogRoutes, ...operatorAuditLogExportRoutes]
