import { Fingerprint } from 'lucide-react'
import { explainError } from '../../api/explain-error.ts'
import { enterByPasskey, hasPasskeys } from '../../api/passkeys.ts'
import { Button } from '../../components/Button.tsx'
import { Notice } from '../../components/Notice.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

/** Needs no e-mail address: the device knows its passkeys. */
export function PasskeyEntrance({ onEntered }: { readonly onEntered: () => void }) {
  const enter = useSubmit({ mutationFn: enterByPasskey, onSuccess: onEntered })
  if (!hasPasskeys()) return null
  return (
    <div className="mt-4 grid gap-4 border-t border-line pt-4">
      {enter.error && (
        <Notice tone="danger" role="alert">
          {explainError(enter.error)}
        </Notice>
      )}
      <Button
        variant="secondary"
        isBusy={enter.isPending}
        onClick={() => enter.mutate()}
        icon={<Fingerprint aria-hidden="true" className="size-4" />}
        className="w-full"
      >
        {t('Entrar com chave de acesso')}
      </Button>
    </div>
  )
}
