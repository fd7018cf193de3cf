// A cell of ns-3's IEEE 802.11: an access point, a client that probes it, and neighbours; how long each probe and its
// echo take.

#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/wifi-module.h"

namespace access_delay
{
using namespace ns3;

struct Neighbours
{
    unsigned count;
    unsigned payload; // bytes of a packet
    double on, off;   // means in seconds; off of 0: always on
    std::string heard; // "both", "access-point", "client"
};

struct Setting
{
    std::string phy; // "a" or "ax"
    std::string mode; // of data
    unsigned attempts;
    double interval; // seconds between probes
    unsigned probes;
    unsigned size; // bytes of a probe on the link
    unsigned flood; // bytes of packets of which the client always has one for the access point; none without probes
    std::vector<Neighbours> neighbours;
};

// Delays in seconds of probes and of their echoes; below 0: did not arrive.
struct Delays
{
    std::vector<double> up, down;
    // Frames in a second that were acknowledged: of each neighbour, and of the client unless it probes.
    std::vector<double> frames;
};

constexpr double HEARD_DB = 50, UNHEARD_DB = 250;
// Nothing counts before.
constexpr double START_S = 1;
constexpr uint16_t PROTOCOL = 0x0800;

// A neighbour that has a frame while it is on, as one of ours: the next one when the last is acknowledged or given up.
struct Source
{
    Ptr<NetDevice> device;
    Address to;
    Neighbours kind;
    Ptr<ExponentialRandomVariable> random;
    Time until;
    unsigned acked = 0;

    void Send() { device->Send(Create<Packet>(kind.payload), to, PROTOCOL); }

    void Start()
    {
        if (kind.off == 0)
        {
            until = Time::Max();
            Send();
            return;
        }
        Ptr<UniformRandomVariable> uniform = CreateObject<UniformRandomVariable>();
        const bool is_on = uniform->GetValue() < kind.on / (kind.on + kind.off);
        const Time wait = is_on ? Seconds(0) : Draw(kind.off);
        until = wait + Draw(kind.on);
        Simulator::Schedule(wait, &Source::Send, this);
    }

    Time Draw(double mean) { return Seconds(random->GetValue(mean, 0)); }

    void Done()
    {
        const Time now = Simulator::Now();
        while (until <= now)
        {
            const Time next = until + Draw(kind.off);
            until = next + Draw(kind.on);
            if (next > now)
            {
                Simulator::Schedule(next - now, &Source::Send, this);
                return;
            }
        }
        Send();
    }

    // Frames of management have nothing to do with the source.
    void Ended(Ptr<const WifiMpdu> mpdu)
    {
        if (mpdu->GetHeader().IsData())
        {
            Done();
        }
    }

    void Acked(Ptr<const WifiMpdu> mpdu)
    {
        acked += mpdu->GetHeader().IsData() && Simulator::Now() >= Seconds(START_S);
        Ended(mpdu);
    }

    void Dropped(WifiMacDropReason, Ptr<const WifiMpdu> mpdu) { Ended(mpdu); }
};

struct Ends
{
    Ptr<NetDevice> ap, client;
    unsigned size;
    std::map<uint64_t, std::pair<unsigned, Time>> sent;
    Delays delays;

    void Probe(unsigned number) { Send(client, ap->GetAddress(), number); }

    void Send(Ptr<NetDevice> from, Address to, unsigned number)
    {
        Ptr<Packet> packet = Create<Packet>(size);
        sent[packet->GetUid()] = {number, Simulator::Now()};
        from->Send(packet, to, PROTOCOL);
    }

    bool AtAccessPoint(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&)
    {
        const auto found = sent.find(packet->GetUid());
        if (found == sent.end())
        {
            return true;
        }
        const auto [number, at] = found->second;
        delays.up[number] = (Simulator::Now() - at).GetSeconds();
        Simulator::Schedule(Seconds(0.0015), &Ends::Send, this, ap, client->GetAddress(), number);
        return true;
    }

    bool AtClient(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&)
    {
        const auto found = sent.find(packet->GetUid());
        if (found != sent.end())
        {
            const auto [number, at] = found->second;
            delays.down[number] = (Simulator::Now() - at).GetSeconds();
        }
        return true;
    }
};

Delays
run(const Setting& setting, unsigned seed)
{
    RngSeedManager::SetSeed(seed);
    Config::SetDefault("ns3::WifiMac::FrameRetryLimit", UintegerValue(setting.attempts));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("100000p")));

    // Access point, client, and for each neighbour itself and who receives its frames: the access point if it hears them.
    NodeContainer nodes;
    nodes.Create(2);
    std::vector<std::string> places{"both", "both"};
    std::vector<std::pair<unsigned, unsigned>> pairs;
    std::vector<const Neighbours*> kinds;
    for (const Neighbours& kind : setting.neighbours)
    {
        for (unsigned one = 0; one < kind.count; ++one)
        {
            const unsigned number = nodes.GetN();
            const bool is_own = kind.heard == "client";
            nodes.Create(1 + is_own);
            places.insert(places.end(), 1 + is_own, kind.heard);
            pairs.emplace_back(number, is_own ? number + 1 : 0);
            kinds.push_back(&kind);
        }
    }
    MobilityHelper mobility;
    const Neighbours client{1, setting.flood, 0, 0, "client"};
    if (setting.flood > 0)
    {
        pairs.emplace_back(1, 0);
        kinds.push_back(&client);
    }
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
    Ptr<MatrixPropagationLossModel> loss = CreateObject<MatrixPropagationLossModel>();
    loss->SetDefaultLoss(HEARD_DB);
    const auto hears = [&](unsigned one, unsigned other) {
        if (one > other)
        {
            std::swap(one, other);
        }
        if (other < 2)
        {
            return true;
        }
        if (one < 2)
        {
            return places[other] == "both" || places[other] == (one == 0 ? "access-point" : "client");
        }
        return places[one] == places[other] || places[one] == "both" || places[other] == "both";
    };
    for (unsigned one = 0; one < nodes.GetN(); ++one)
    {
        for (unsigned other = 0; other < one; ++other)
        {
            if (!hears(one, other))
            {
                loss->SetLoss(nodes.Get(one)->GetObject<MobilityModel>(),
                              nodes.Get(other)->GetObject<MobilityModel>(),
                              UNHEARD_DB);
            }
        }
    }
    Ptr<YansWifiChannel> channel = CreateObject<YansWifiChannel>();
    channel->SetPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    const bool is_he = setting.phy == "ax";
    const bool has_categories = setting.phy != "a";
    phy.Set("ChannelSettings", StringValue("{36, 20, BAND_5GHZ, 0}"));
    WifiHelper wifi;
    wifi.SetStandard(is_he ? WIFI_STANDARD_80211ax : has_categories ? WIFI_STANDARD_80211ac : WIFI_STANDARD_80211a);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue(setting.mode),
                                 "ControlMode",
                                 StringValue("OfdmRate24Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(has_categories));
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes);
    for (unsigned number = 0; number < nodes.GetN(); ++number)
    {
        Ptr<WifiNetDevice> device = DynamicCast<WifiNetDevice>(devices.Get(number));
        if (is_he)
        {
            device->GetHeConfiguration()->SetGuardInterval(NanoSeconds(800));
        }
        if (has_categories)
        {
            device->GetMac()->SetAttribute("BE_MaxAmpduSize", UintegerValue(0));
            device->GetMac()->SetAttribute("BE_MaxAmsduSize", UintegerValue(0));
        }
    }
    wifi.AssignStreams(devices, 1000);

    Ends ends{devices.Get(0), devices.Get(1), setting.size, {}, {}};
    ends.delays.up.assign(setting.probes, -1);
    ends.delays.down.assign(setting.probes, -1);
    devices.Get(0)->SetReceiveCallback(MakeCallback(&Ends::AtAccessPoint, &ends));
    devices.Get(1)->SetReceiveCallback(MakeCallback(&Ends::AtClient, &ends));
    std::vector<Source> sources(pairs.size());
    for (unsigned index = 0; index < pairs.size(); ++index)
    {
        Source& source = sources[index];
        const auto [from, to] = pairs[index];
        source.device = devices.Get(from);
        source.to = devices.Get(to)->GetAddress();
        source.kind = *kinds[index];
        source.random = CreateObject<ExponentialRandomVariable>();
        Ptr<WifiMac> wifi_mac = DynamicCast<WifiNetDevice>(source.device)->GetMac();
        wifi_mac->TraceConnectWithoutContext("AckedMpdu", MakeCallback(&Source::Acked, &source));
        wifi_mac->TraceConnectWithoutContext("DroppedMpdu", MakeCallback(&Source::Dropped, &source));
        Simulator::Schedule(Seconds(0), &Source::Start, &source);
    }
    for (unsigned number = 0; number < setting.probes && setting.flood == 0; ++number)
    {
        Simulator::Schedule(Seconds(START_S + number * setting.interval), &Ends::Probe, &ends, number);
    }
    const double span = setting.probes * setting.interval;
    Simulator::Stop(Seconds(START_S + span + (setting.flood > 0 ? 0 : 5)));
    Simulator::Run();
    for (const Source& source : sources)
    {
        ends.delays.frames.push_back(source.acked / span);
    }
    Simulator::Destroy();
    return ends.delays;
}
} // namespace access_delay
