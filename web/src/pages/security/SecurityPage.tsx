import { useQuery } from '@tanstack/react-query'
import { Card } from '../../components/Card.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { LinkedAccounts } from './LinkedAccounts.tsx'
import { Passkeys } from './Passkeys.tsx'
import { Password } from './Password.tsx'
import { SecondFactor } from './SecondFactor.tsx'
import { Sessions } from './Sessions.tsx'
import { securityQuery } from './security-queries.ts'
import { useProof } from './use-proof.tsx'
import { t } from '../../language/t.ts'

export function SecurityPage() {
  const security = useQuery(securityQuery)
  const { withProof, dialog } = useProof(security.data)
  return (
    <>
      <PageTitle
        title={t('Segurança')}
        description={t(
          'Como você entra na sua conta, e onde ela está aberta. A cada mudança avisamos por e-mail.',
        )}
      />
      <div className="grid max-w-3xl gap-6">
        {security.isPending && (
          <Card>
            <SkeletonRows rows={6} />
          </Card>
        )}
        {security.isError && !security.data && (
          <ErrorState error={security.error} onRetry={() => void security.refetch()} />
        )}
        {security.data && (
          <>
            <SecondFactor factor={security.data.secondFactor} withProof={withProof} />
            <Passkeys passkeys={security.data.passkeys} withProof={withProof} />
            {security.data.linkedAccounts.length > 0 && (
              <LinkedAccounts security={security.data} withProof={withProof} />
            )}
            <Password email={security.data.email} hasPassword={security.data.hasPassword} />
            <Sessions sessions={security.data.sessions} />
          </>
        )}
      </div>
      {dialog}
    </>
  )
}
