import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../../api/session.ts'
import { Card } from '../../components/Card.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { DataExport } from './DataExport.tsx'
import { DeleteAccount } from './DeleteAccount.tsx'
import { PersonForm } from './PersonForm.tsx'
import { PreferencesForm } from './PreferencesForm.tsx'
import { ShieldCard } from './ShieldCard.tsx'
import { SpendingGuardCard } from './SpendingGuardCard.tsx'
import { preferencesQuery, profileQuery } from './profile-queries.ts'
import { shieldQuery, shieldReportQuery } from './shield-queries.ts'
import { spendingGuardQuery } from './spending-guard-queries.ts'
import { t } from '../../language/t.ts'

export function ProfilePage() {
  const profile = useQuery(profileQuery)
  const preferences = useQuery(preferencesQuery)
  const others = [useQuery(shieldQuery), useQuery(shieldReportQuery), useQuery(spendingGuardQuery)]
  // A form is taller than its skeleton: what stands below it waits for it.
  const isLoading = [profile, preferences, ...others].some(({ isPending }) => isPending)
  const { data: session } = useQuery(sessionQuery)
  return (
    <>
      <PageTitle title={t('Perfil')} description={session?.customer.email} />
      <div className="grid max-w-3xl gap-6">
        <Card
          title={t('Seus dados')}
          description={t(
            'Quem paga as recargas. O CPF ou CNPJ é obrigatório para recarregar e salvar cartões.',
          )}
        >
          {profile.isPending && <SkeletonRows rows={5} />}
          {profile.isError && (
            <ErrorState error={profile.error} onRetry={() => void profile.refetch()} />
          )}
          {profile.data !== undefined && (
            <PersonForm profile={profile.data} accountName={session?.customer.name} />
          )}
        </Card>
        {!isLoading && (
          <>
            <Card title={t('Preferências')}>
              {preferences.isError && (
                <ErrorState error={preferences.error} onRetry={() => void preferences.refetch()} />
              )}
              {preferences.data && <PreferencesForm preferences={preferences.data} />}
            </Card>
            <ShieldCard />
            <SpendingGuardCard />
            <DataExport />
            {session && (
              <DeleteAccount confirmation={session.customer.email ?? session.customer.name} />
            )}
          </>
        )}
      </div>
    </>
  )
}
