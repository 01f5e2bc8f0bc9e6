import { PageTitle } from '../../../components/PageTitle.tsx'
import { FailingMails } from './FailingMails.tsx'
import { FailingWebhooks } from './FailingWebhooks.tsx'
import { t } from '../../../language/t.ts'

export function DeliveriesPage() {
  return (
    <>
      <PageTitle
        title={t('Entregas')}
        description={t('E-mails e webhooks que não chegam a quem deveriam.')}
      />
      <div className="grid gap-5">
        <FailingWebhooks />
        <FailingMails />
      </div>
    </>
  )
}
