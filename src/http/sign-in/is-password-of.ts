import type { Auth } from '../../identity/sign-in/create-auth.ts'
import { PASSWORD_MAX } from '../../identity/sign-in/sign-in-terms.ts'

export async function isPasswordOf(auth: Auth, userId: string, password: string): Promise<boolean> {
  const { internalAdapter, password: passwords } = await auth.$context
  const accounts = await internalAdapter.findAccounts(userId)
  const hash = accounts.find(({ providerId }) => providerId === 'credential')?.password
  return (
    typeof hash === 'string' &&
    password.length <= PASSWORD_MAX &&
    (await passwords.verify({ hash, password }))
  )
}
