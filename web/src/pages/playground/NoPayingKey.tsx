import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { buttonClass } from '../../components/button-class.ts'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Skeleton } from '../../components/Skeleton.tsx'
import { keysWithoutBalanceQuery } from './playground-queries.ts'

/** In place of a form that needs a key to pay with: without a balance no key is active, however many there are. */
export function NoPayingKey() {
  const suspended = useQuery(keysWithoutBalanceQuery)
  if (suspended.isPending) return <Skeleton className="h-16" />
  if (suspended.isError)
    return <ErrorState error={suspended.error} onRetry={() => void suspended.refetch()} />
  return suspended.data.length > 0 ? (
    <div className="grid justify-items-start gap-3">
      <p className="text-sm">
        Você está sem saldo. Recarregue e continue: suas chaves voltam a funcionar na hora.
      </p>
      <Link to="/recargas" className={buttonClass('primary')}>
        Recarregar com Pix
      </Link>
    </div>
  ) : (
    <div className="grid justify-items-start gap-3">
      <p className="text-sm">
        Para continuar você precisa de uma chave ativa: é nela que o gasto é contado, com os limites
        que você definir.
      </p>
      <Link to="/chaves" className={buttonClass('primary')}>
        Criar uma chave
      </Link>
    </div>
  )
}
