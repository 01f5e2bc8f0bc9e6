import { isDuckDbInstalled } from '../../platform/archive/open-duckdb.ts'
import type { Config } from './config.ts'

/**
 * Returns the settings without which the server starts, but customers or operators cannot do something; each with the
 * remedy.
 */
export function findMissingSettings(config: Config): string[] {
  const missing: string[] = []
  if (config.archive !== undefined && !isDuckDbInstalled())
    missing.push(
      'ARCHIVE_DIR or ARCHIVE_S3_URL is set, but DuckDB is not installed: no month can be archived or read there. Install the optional packages: npm ci without --omit=optional',
    )
  if (config.mode === 'sandbox') return missing
  if (config.publicUrl === undefined)
    missing.push(
      'PUBLIC_URL is not set: nobody can sign in to the dashboard (503 sign_in_unavailable), and mails have no links. Set it to the address at which customers reach this server, such as https://api.example.com',
    )
  if (config.adminEmails.length === 0)
    missing.push(
      'ADMIN_EMAILS is not set: nobody can open the pages of operators. Set it to your e-mail, and sign up with it in the dashboard, with a second factor',
    )
  if (config.asaas === undefined)
    missing.push(
      'ASAAS_API_KEY is not set: nobody can top up. Set it and ASAAS_WEBHOOK_TOKEN, or credit by hand: npm run catraca -- customer credit',
    )
  if (config.publicUrl?.startsWith('https:') === true && config.trustProxy === false)
    missing.push(
      'TRUST_PROXY is not set, and PUBLIC_URL is the address of a proxy, since this server speaks no https: all callers share the address of that proxy, so the wrong keys of one close the API for all. Set it to the address or network from which the proxy connects, such as 127.0.0.1',
    )
  return missing
}
