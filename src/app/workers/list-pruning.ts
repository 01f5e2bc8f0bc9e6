import { pruneAuditLog } from '../../platform/audit-log/prune-audit-log.ts'
import { pruneInvitations } from '../../customers/team-invitations.ts'
import { pruneShieldCounts } from '../../customers/shield-counts.ts'
import { pruneHealth } from '../../platform/health/health-summaries.ts'
import { pruneIdempotencyKeys } from '../../platform/idempotency/idempotency-records.ts'
import { pruneAuthEvents } from '../../identity/take-auth-event.ts'
import { pruneImages } from '../../gateway/generated-images.ts'
import { pruneRateWindows, pruneTasks } from '../../money/ledger/prune-tasks.ts'
import { pruneVideos } from '../../gateway/calls/videos/videos.ts'
import { pruneCardAttempts } from '../../money/payments/card-attempts.ts'
import { pruneRuns } from '../../money/reconciliation/runs.ts'
import { pruneSignIn } from '../../identity/sign-in/sessions.ts'
import { pruneCachedAnswers } from '../../customers/cached-answers.ts'
import { pruneStoredResponses } from '../../customers/stored-responses/response-store.ts'
import { pruneBatches } from '../../customers/batches/batches.ts'
import { pruneFiles } from '../../customers/batches/files.ts'
import { pruneModelSpeeds } from '../../money/usage/model-speeds.ts'
import { pruneRefusals } from '../../money/usage/refusals.ts'
import { pruneWebhookAttempts } from '../../deliveries/webhooks/webhook-attempts.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Job } from './open-jobs.ts'

/** Returns the jobs that end the time for which docs/security.md says that rows are kept. */
export function listPruning(db: Database): Readonly<Record<string, Job>> {
  return {
    'prune-health': { cron: '37 3 * * *', run: () => pruneHealth(db) },
    'prune-model-speeds': { cron: '39 3 * * *', run: () => pruneModelSpeeds(db) },
    'prune-webhook-attempts': { cron: '47 3 * * *', run: () => pruneWebhookAttempts(db) },
    'prune-tasks': { cron: '41 3 * * *', run: () => pruneTasks(db) },
    'prune-auth-events': { cron: '57 3 * * *', run: () => pruneAuthEvents(db) },
    'prune-reconciliation-runs': { cron: '53 3 * * *', run: () => pruneRuns(db) },
    'prune-sign-in': { cron: '*/10 * * * *', run: () => pruneSignIn(db) },
    'prune-card-attempts': { cron: '*/10 * * * *', run: () => pruneCardAttempts(db) },
    'prune-rate-windows': { cron: '*/5 * * * *', run: () => pruneRateWindows(db, inMinutes(4)) },
    'prune-shield-counts': { cron: '7 4 * * *', run: () => pruneShieldCounts(db) },
    'prune-refusals': { cron: '17 4 * * *', run: () => pruneRefusals(db, inMinutes(10)) },
    'prune-invitations': { cron: '43 3 * * *', run: () => pruneInvitations(db) },
    'prune-audit-log': { cron: '33 4 * * *', run: () => pruneAuditLog(db, inMinutes(10)) },
    'prune-stored-responses': {
      cron: '*/10 * * * *',
      run: () => pruneStoredResponses(db, inMinutes(8)),
    },
    'prune-cached-answers': {
      cron: '*/10 * * * *',
      run: () => pruneCachedAnswers(db, inMinutes(8)),
    },
    'prune-idempotency-keys': {
      cron: '*/10 * * * *',
      run: () => pruneIdempotencyKeys(db, inMinutes(8)),
    },
    'prune-files': { cron: '*/10 * * * *', run: () => pruneFiles(db, inMinutes(8)) },
    'prune-batches': { cron: '27 4 * * *', run: () => pruneBatches(db, inMinutes(10)) },
    'prune-images': { cron: '*/10 * * * *', run: () => pruneImages(db) },
    'prune-videos': { cron: '*/10 * * * *', run: () => pruneVideos(db) },
  }
}

/** Returns a function that returns true once this many minutes have passed from now. */
export function inMinutes(minutes: number): () => boolean {
  const untilMs = Date.now() + minutes * 60_000
  return () => Date.now() > untilMs
}
