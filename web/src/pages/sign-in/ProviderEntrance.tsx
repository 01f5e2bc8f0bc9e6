import { useQuery } from '@tanstack/react-query'
import { beginByProvider, PROVIDER_NAMES, providersQuery, type Provider } from '../../api/auth.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { Notice } from '../../components/Notice.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

interface ProviderEntranceProps {
  /** The page to show afterwards. */
  readonly returnTo?: string
  readonly referralCode?: string
}

/** A button for each service that the operator has set. An account is made where there is none, as by a link. */
export function ProviderEntrance(more: ProviderEntranceProps) {
  const providers = useQuery(providersQuery).data?.providers ?? []
  const begin = useSubmit({
    mutationFn: (provider: Provider) => beginByProvider({ provider, ...more }),
    onSuccess: ({ url }) => window.location.assign(url),
  })
  if (providers.length === 0) return null
  return (
    <div className="mt-4 grid gap-3 border-t border-line pt-4">
      {begin.error && (
        <Notice tone="danger" role="alert">
          {explainError(begin.error)}
        </Notice>
      )}
      {providers.map((provider) => (
        <Button
          key={provider}
          variant="secondary"
          isBusy={begin.isPending && begin.variables === provider}
          onClick={() => begin.mutate(provider)}
          className="w-full"
        >
          {t('Entrar com {provider}', { provider: PROVIDER_NAMES[provider] })}
        </Button>
      ))}
    </div>
  )
}
