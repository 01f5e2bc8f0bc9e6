import type { Config } from './config.ts'

/** Settings without which live mode starts, but customers or operators cannot do something; each with the remedy. */
export function findMissingSettings(config: Config): string[] {
  if (config.mode === 'sandbox') return []
  const missing: string[] = []
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
  return missing
}
