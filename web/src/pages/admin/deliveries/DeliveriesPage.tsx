import { PageTitle } from '../../../components/PageTitle.tsx'
import { FailingMails } from './FailingMails.tsx'
import { FailingWebhooks } from './FailingWebhooks.tsx'

export function DeliveriesPage() {
  return (
    <>
      <PageTitle
        title="Entregas"
        description="E-mails e webhooks que não chegam a quem deveriam."
      />
      <div className="grid gap-5">
        <FailingWebhooks />
        <FailingMails />
      </div>
    </>
  )
}
