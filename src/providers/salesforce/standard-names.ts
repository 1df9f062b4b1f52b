/** Names of Salesforce's objects and of their fields, from its object reference. Features of an org add further ones. */
import { createStandardNames } from '../object-support.ts';

/** The names of fields that most objects have. */
const COMMON_FIELDS = `
  Id CreatedById CreatedDate IsDeleted LastModifiedById LastModifiedDate LastReferencedDate LastViewedDate OwnerId
  SystemModstamp`;

/** The names of further fields by object. Objects without a list have unknown fields. */
const FIELDS = {
  Account: `
    AccountNumber AccountSource AnnualRevenue BillingAddress BillingCity BillingCountry BillingCountryCode
    BillingGeocodeAccuracy BillingLatitude BillingLongitude BillingPostalCode BillingState BillingStateCode
    BillingStreet CleanStatus CurrencyIsoCode Description DunsNumber Fax FirstName Industry IsCustomerPortal
    IsPersonAccount Jigsaw JigsawCompanyId LastActivityDate LastName MasterRecordId MiddleName NaicsCode NaicsDesc Name
    NumberOfEmployees OperatingHoursId Ownership ParentId PersonBirthdate PersonContactId PersonDepartment PersonEmail
    PersonHomePhone PersonLeadSource PersonMobilePhone PersonOtherPhone PersonTitle Phone PhotoUrl Rating RecordTypeId
    Salutation ShippingAddress ShippingCity ShippingCountry ShippingCountryCode ShippingGeocodeAccuracy ShippingLatitude
    ShippingLongitude ShippingPostalCode ShippingState ShippingStateCode ShippingStreet Sic SicDesc Site Suffix
    TickerSymbol Tradestyle Type Website YearStarted`,
  Contact: `
    AccountId AssistantName AssistantPhone Birthdate CanAllowPortalSelfReg CleanStatus CurrencyIsoCode Department
    Description DoNotCall Email EmailBouncedDate EmailBouncedReason Fax FirstName GenderIdentity HasOptedOutOfEmail
    HasOptedOutOfFax HomePhone IndividualId IsEmailBounced Jigsaw JigsawContactId LastActivityDate LastCURequestDate
    LastCUUpdateDate LastName LeadSource MailingAddress MailingCity MailingCountry MailingCountryCode
    MailingGeocodeAccuracy MailingLatitude MailingLongitude MailingPostalCode MailingState MailingStateCode
    MailingStreet MasterRecordId MiddleName MobilePhone Name OtherAddress OtherCity OtherCountry OtherCountryCode
    OtherGeocodeAccuracy OtherLatitude OtherLongitude OtherPhone OtherPostalCode OtherState OtherStateCode OtherStreet
    Phone PhotoUrl Pronouns RecordTypeId ReportsToId Salutation Suffix Title`,
  Lead: `
    Address AnnualRevenue City CleanStatus Company CompanyDunsNumber ConvertedAccountId ConvertedContactId ConvertedDate
    ConvertedOpportunityId Country CountryCode CurrencyIsoCode Description DoNotCall Email EmailBouncedDate
    EmailBouncedReason Fax FirstName GenderIdentity GeocodeAccuracy HasOptedOutOfEmail HasOptedOutOfFax IndividualId
    Industry IsConverted IsUnreadByOwner Jigsaw JigsawContactId LastActivityDate LastName Latitude LeadSource Longitude
    MasterRecordId MiddleName MobilePhone Name NumberOfEmployees Phone PhotoUrl PostalCode Pronouns Rating RecordTypeId
    Salutation State StateCode Status Street Suffix Title Website`,
  Opportunity: `
    AccountId Amount CampaignId CloseDate ContactId ContractId CurrencyIsoCode Description ExpectedRevenue Fiscal
    FiscalQuarter FiscalYear ForecastCategory ForecastCategoryName HasOpenActivity HasOpportunityLineItem HasOverdueTask
    IqScore IsClosed IsWon LastActivityDate LastAmountChangedHistoryId LastCloseDateChangedHistoryId LastStageChangeDate
    LeadSource Name NextStep Pricebook2Id Probability PushCount RecordTypeId StageName SyncedQuoteId TerritoryId
    TotalOpportunityQuantity Type`,
  OpportunityLineItem: `
    CurrencyIsoCode Description Discount HasQuantitySchedule HasRevenueSchedule HasSchedule ListPrice Name OpportunityId
    PricebookEntryId Product2Id ProductCode Quantity ServiceDate SortOrder Subtotal TotalPrice UnitPrice`,
  Case: `
    AccountId AssetId BusinessHoursId CaseNumber ClosedDate Comments ContactEmail ContactFax ContactId ContactMobile
    ContactPhone CurrencyIsoCode Description EntitlementId HasCommentsUnreadByOwner HasSelfServiceComments IsClosed
    IsClosedOnCreate IsEscalated IsSelfServiceClosed IsStopped IsVisibleInSelfService MilestoneStatus Origin ParentId
    Priority ProductId Reason RecordTypeId ServiceContractId SlaExitDate SlaStartDate SourceId Status StopStartDate
    Subject SuppliedCompany SuppliedEmail SuppliedName SuppliedPhone Type`,
  CaseComment: `
    CommentBody IsPublished ParentId`,
  Task: `
    AccountId ActivityDate CallDisposition CallDurationInSeconds CallObject CallType CurrencyIsoCode Description
    IsArchived IsClosed IsHighPriority IsRecurrence IsReminderSet Priority RecordTypeId RecurrenceActivityId
    RecurrenceDayOfMonth RecurrenceDayOfWeekMask RecurrenceEndDateOnly RecurrenceInstance RecurrenceInterval
    RecurrenceMonthOfYear RecurrenceRegeneratedType RecurrenceStartDateOnly RecurrenceTimeZoneSidKey RecurrenceType
    ReminderDateTime Status Subject TaskSubtype WhatId WhoId`,
  Event: `
    AccountId ActivityDate ActivityDateTime CurrencyIsoCode Description DurationInMinutes EndDateTime EventSubtype
    GroupEventType IsAllDayEvent IsArchived IsChild IsGroupEvent IsPrivate IsRecurrence IsReminderSet Location
    RecordTypeId RecurrenceActivityId RecurrenceDayOfMonth RecurrenceDayOfWeekMask RecurrenceEndDateOnly
    RecurrenceInstance RecurrenceInterval RecurrenceMonthOfYear RecurrenceStartDateTime RecurrenceTimeZoneSidKey
    RecurrenceType ReminderDateTime ShowAs StartDateTime Subject WhatId WhoId`,
  User: `
    AboutMe AccountId Address Alias BadgeText BannerPhotoUrl CallCenterId City CommunityNickname CompanyName ContactId
    Country DefaultGroupNotificationFrequency DelegatedApproverId Department DigestFrequency Division Email
    EmailEncodingKey EmailPreferencesAutoBcc EmailPreferencesAutoBccStayInTouch EmailPreferencesStayInTouchReminder
    EmployeeNumber Extension Fax FederationIdentifier FirstName ForecastEnabled FullPhotoUrl GeocodeAccuracy
    IndividualId IsActive IsExtIndicatorVisible IsPortalEnabled IsPortalSelfRegistered IsProfilePhotoActive
    LanguageLocaleKey LastLoginDate LastName LastPasswordChangeDate Latitude LocaleSidKey Longitude ManagerId
    MediumBannerPhotoUrl MediumPhotoUrl MobilePhone Name OfflinePdaTrialExpirationDate OfflineTrialExpirationDate
    OutOfOfficeMessage Phone PortalRole PostalCode ProfileId ReceivesAdminInfoEmails ReceivesInfoEmails SenderEmail
    SenderName Signature SmallBannerPhotoUrl SmallPhotoUrl State StayInTouchNote StayInTouchSignature StayInTouchSubject
    Street TimeZoneSidKey Title UserRoleId UserType Username`,
  Campaign: `
    ActualCost AmountAllOpportunities AmountWonOpportunities BudgetedCost CampaignMemberRecordTypeId CurrencyIsoCode
    Description EndDate ExpectedResponse ExpectedRevenue IsActive LastActivityDate Name NumberOfContacts
    NumberOfConvertedLeads NumberOfLeads NumberOfOpportunities NumberOfResponses NumberOfWonOpportunities NumberSent
    ParentId RecordTypeId StartDate Status Type`,
  CampaignMember: `
    CampaignId City CompanyOrAccount ContactId Country Description DoNotCall Email Fax FirstName FirstRespondedDate
    HasOptedOutOfEmail HasOptedOutOfFax HasResponded LastName LeadId LeadOrContactId LeadOrContactOwnerId LeadSource
    MobilePhone Name Phone PostalCode Salutation State Status Street Title Type`,
  Product2: `
    CurrencyIsoCode Description DisplayUrl ExternalDataSourceId ExternalId Family IsActive IsArchived Name ProductCode
    QuantityUnitOfMeasure RecordTypeId StockKeepingUnit`,
  Pricebook2: `
    Description IsActive IsArchived IsStandard Name`,
  PricebookEntry: `
    IsActive Name Pricebook2Id Product2Id ProductCode UnitPrice UseStandardPrice`,
  Order: `
    AccountId ActivatedById ActivatedDate BillingAddress BillingCity BillingCountry BillingGeocodeAccuracy
    BillingLatitude BillingLongitude BillingPostalCode BillingState BillingStreet CompanyAuthorizedById ContractId
    CurrencyIsoCode CustomerAuthorizedById Description EffectiveDate EndDate IsReductionOrder OrderNumber
    OrderReferenceNumber OriginalOrderId PoDate PoNumber Pricebook2Id QuoteId RecordTypeId ShippingAddress ShippingCity
    ShippingCountry ShippingGeocodeAccuracy ShippingLatitude ShippingLongitude ShippingPostalCode ShippingState
    ShippingStreet Status StatusCode TotalAmount Type`,
  OrderItem: `
    AvailableQuantity Description EndDate ListPrice OrderId OrderItemNumber OriginalOrderItemId PricebookEntryId
    Product2Id Quantity ServiceDate TotalPrice UnitPrice`,
  Contract: `
    AccountId ActivatedById ActivatedDate BillingAddress BillingCity BillingCountry BillingGeocodeAccuracy
    BillingLatitude BillingLongitude BillingPostalCode BillingState BillingStreet CompanySignedDate CompanySignedId
    ContractNumber ContractTerm CurrencyIsoCode CustomerSignedDate CustomerSignedId CustomerSignedTitle Description
    EndDate LastActivityDate LastApprovedDate OwnerExpirationNotice Pricebook2Id RecordTypeId ShippingAddress
    ShippingCity ShippingCountry ShippingGeocodeAccuracy ShippingLatitude ShippingLongitude ShippingPostalCode
    ShippingState ShippingStreet SpecialTerms StartDate Status StatusCode`,
  Asset: `
    AccountId AssetLevel AssetProvidedById AssetServicedById ContactId CurrencyIsoCode Description InstallDate
    IsCompetitorProduct IsInternal Name ParentId Price Product2Id ProductCode PurchaseDate Quantity RecordTypeId
    RootAssetId SerialNumber Status StockKeepingUnit UsageEndDate`,
  Note: `
    Body IsPrivate ParentId Title`,
  Quote: `
    AccountId AdditionalAddress AdditionalName BillingAddress BillingCity BillingCountry BillingName BillingPostalCode
    BillingState BillingStreet ContactId ContractId CurrencyIsoCode Description Discount Email ExpirationDate Fax
    GrandTotal IsSyncing LineItemCount Name OpportunityId Phone Pricebook2Id QuoteNumber QuoteToAddress QuoteToName
    RecordTypeId ShippingAddress ShippingCity ShippingCountry ShippingHandling ShippingName ShippingPostalCode
    ShippingState ShippingStreet Status Subtotal Tax TotalPrice`,
  QuoteLineItem: `
    CurrencyIsoCode Description Discount LineNumber ListPrice OpportunityLineItemId PricebookEntryId Product2Id Quantity
    QuoteId ServiceDate SortOrder Subtotal TotalPrice UnitPrice`,
};

const OTHER_OBJECTS = `
  AccountContactRelation AccountContactRole AccountHistory AccountPartner AccountShare AccountTeamMember
  AssetRelationship Attachment BusinessHours CampaignMemberStatus CaseContactRole CaseHistory CaseTeamMember
  CollaborationGroup CollaborationGroupMember ContactHistory ContactPointAddress ContactPointEmail ContactPointPhone
  ContentDocument ContentDocumentLink ContentNote ContentVersion ContentWorkspace ContractContactRole ContractLineItem
  Dashboard Document EmailMessage EmailTemplate Entitlement FeedComment FeedItem Folder Group GroupMember Holiday Idea
  Individual KnowledgeArticle KnowledgeArticleVersion LeadHistory ListView Location MessagingSession
  OpportunityCompetitor OpportunityContactRole OpportunityFieldHistory OpportunityHistory OpportunityPartner
  OpportunityShare OpportunityStage OpportunityTeamMember OrderHistory Organization Partner PermissionSet
  PermissionSetAssignment Profile QueueSobject RecordType Report ResourceAbsence ServiceAppointment ServiceContract
  ServiceResource ServiceTerritory Solution Territory2 Topic TopicAssignment UserRole WorkOrder WorkOrderLineItem
  WorkType`;

export const standardNames = createStandardNames(FIELDS, COMMON_FIELDS, OTHER_OBJECTS);
